#!/usr/bin/env node
// npm links this file before anything is compiled, so it cannot be a compiled file. It checks the Node
// version first, because the SQLite driver crashes an older Node without a message. Only old syntax: a Node
// that cannot parse this file would show a syntax error instead.
const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 14)) {
  console.error('jobmill-uploads: Node 22.14 or newer is required (got %s)', process.versions.node)
  process.exitCode = 2
} else {
  // As for Node itself, the exit code if the program never ends its work. Otherwise it sets its own.
  process.exitCode = 13
  // Keep the young generation at its initial size. With many parallel uploads it would grow by 60 MB of
  // unused chunks. A call instead of a flag in the first line works however the command is started.
  void import('node:v8').then(function (v8) {
    v8.setFlagsFromString('--semi-space-growth-factor=1')
    return import('../dist/cli/main.js')
  })
}
