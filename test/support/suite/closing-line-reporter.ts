// Ends a test run with the ten slowest files of a large run and one line, `N passed, N failed` (and `, N
// skipped`), for people and CI. An error outside of a test, such as a file that does not load, counts as a
// failure.
import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

const SLOWEST = 10

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) counts[test.result().state] += 1
    }
    if (modules.length > SLOWEST) console.log(`\n${slowest(modules)}`)
    // An interrupted test has no result, so it did not pass.
    const failed = counts.failed + counts.pending
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    console.log(`\n${counts.passed} passed, ${failed} failed${skipped}`)
  }
}

function slowest(modules: readonly TestModule[]): string {
  const lines = modules
    .map((module) => ({ name: relative(process.cwd(), module.moduleId), ms: durationOf(module) }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}`)
  return `The ${SLOWEST} slowest files:\n${lines.join('\n')}`
}

/** Includes the time to load the file. */
function durationOf(module: TestModule): number {
  const { collectDuration, duration, setupDuration } = module.diagnostic()
  return collectDuration + duration + setupDuration
}
