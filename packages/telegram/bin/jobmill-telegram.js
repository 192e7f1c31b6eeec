#!/usr/bin/env node
// npm links this file before anything is compiled, so it cannot be a compiled file. It checks the Node
// version first, because the SQLite driver crashes an older Node without a message. Only old syntax: a Node
// that cannot parse this file would show a syntax error instead.
const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 14)) {
  console.error('jobmill-telegram: Node 22.14 or newer is required (got %s)', process.versions.node)
  process.exitCode = 2
} else {
  // As for Node itself, the exit code if the program never ends its work. Otherwise it sets its own.
  process.exitCode = 13
  void import('../dist/cli/main.js')
}
