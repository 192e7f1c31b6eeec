// Runs every check except the tests, one after the other, and continues after a failure. Reports the time of
// each; the exit code is 1 when any failed. `npm run check -- lint types` runs only the named checks.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const library = 'packages/jobmill'

/** @type {Record<string, string[]>} */
const steps = {
  // First, because the packages import each other in their published form.
  build: ['node', 'scripts/setup.mjs'],
  format: ['oxfmt', '--check'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  types: ['tsc', '--noEmit'],
  'page types': ['tsc', '-p', 'packages/dashboard'],
  'page tests': ['tsc', '-p', 'packages/dashboard/test'],
  imports: ['node', 'scripts/check-imports.mjs'],
  words: ['node', 'scripts/check-words.mjs'],
  errors: ['node', 'scripts/check-errors.mjs'],
  unused: ['knip', '--no-progress'],
  // These read the packages in their published form, so they come after the build.
  package: ['publint', '--strict', library],
  'package server': ['publint', '--strict', 'packages/server'],
  'package conformance': ['publint', '--strict', 'packages/conformance'],
  'package uploads': ['publint', '--strict', 'packages/uploads'],
  size: ['node', 'scripts/check-size.mjs'],
  'consumer types': ['node', 'scripts/check-consumer.mjs'],
  'package types': ['attw', '--pack', library, '--profile', 'esm-only', '--no-emoji'],
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in steps))
if (unknown.length > 0) {
  console.error(`check: unknown step ${unknown.join(', ')}. Use one of: ${Object.keys(steps).join(', ')}`)
  process.exit(1)
}

const failed = []
for (const [name, [program = '', ...args]] of Object.entries(steps)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const startedAt = performance.now()
  const result = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const passed = result.status === 0
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name.padEnd(14)} ${seconds} s`)
  if (!passed) failed.push(name)
  // Sizes, and the scores of error groups, are worth reading even if all are within their bounds.
  else if (name !== 'size' && name !== 'errors') continue
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`.trim()
  console.log(output.replaceAll(/^/gm, '  '))
}

console.log(failed.length === 0 ? 'check: all passed' : `check: failed: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)
