#!/usr/bin/env node
// A file of its own, and not the compiled one: npm links it before anything was compiled.
import { setFlagsFromString } from 'node:v8'

// Keeps the young generation as small as it begins, before anything else is loaded: with many uploads at once it would grow by 60 MB of chunks that are no longer
// used. Here and not in the first line, so that it counts however the command is started.
setFlagsFromString('--semi-space-growth-factor=1')
// The SQLite driver ends an older Node without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  console.error('jobmill-uploads: this is Node %s, and 22.14 or newer is needed', process.versions.node)
  process.exitCode = 2
} else await import('../dist/cli/main.js')
