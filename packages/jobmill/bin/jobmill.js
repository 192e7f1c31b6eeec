#!/usr/bin/env node
// A file of its own, and not the compiled one: npm links it before anything was compiled.
// The SQLite driver ends an older Node without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  console.error('jobmill: this is Node %s, and 22.14 or newer is needed', process.versions.node)
  process.exitCode = 2
} else await import('../dist/cli/main.js')
