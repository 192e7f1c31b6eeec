#!/usr/bin/env node
// npm links this file before anything is compiled, so it cannot be a compiled file. It checks the Node
// version first, because the SQLite driver crashes an older Node without a message.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  console.error('jobmill-telegram: Node 22.14 or newer is required (got %s)', process.versions.node)
  process.exitCode = 2
} else await import('../dist/cli/main.js')
