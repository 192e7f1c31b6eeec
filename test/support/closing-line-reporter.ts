// Ends a test run with one plain line, `N passed, N failed` (and `, N skipped`), for people and for CI to read.
// What went wrong outside of a test (a file that does not load, an unhandled rejection) counts as a failure.
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) counts[test.result().state] += 1
    }
    // A test that was cut off has no result; it did not pass.
    const failed = counts.failed + counts.pending
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    console.log(`\n${counts.passed} passed, ${failed} failed${skipped}`)
  }
}
