#!/usr/bin/env node
// npm links this file before anything is compiled, so it cannot be a compiled file.
import { setFlagsFromString } from 'node:v8'

// Keep the young generation at its initial size. With many parallel uploads it would grow by 60 MB of unused
// chunks. A call instead of a flag in the first line works however the command is started.
setFlagsFromString('--semi-space-growth-factor=1')
// The SQLite driver crashes an older Node without a message.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  console.error('jobmill-uploads: Node 22.14 or newer is required (got %s)', process.versions.node)
  process.exitCode = 2
} else await import('../dist/cli/main.js')
