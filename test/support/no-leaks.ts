// After every test, and all that it cleans up itself, nothing of what it made is left: no timer, socket, server, child, thread, listener, open file, SQLite handle
// or mill. What a file makes for all its tests has to be gone at its end. Closing takes a moment, so it is waited for, and only what stays is told.
import { afterAll, beforeEach, vi } from 'vitest'
import { endFile } from './file-end.ts'
import { begin, patience } from './leaks/check.ts'
import { complain } from './leaks/complain.ts'
import { stopped, watchedConnection, watchedGauges, watchedLife } from './leaks/watch-jobmill.ts'
import { watchNode } from './leaks/watch-node.ts'

vi.mock('../../packages/jobmill/src/runtime/lifecycle.ts', async (real) => watchedLife(await real()))
vi.mock('../../packages/jobmill/src/store-sqlite/connection.ts', async (real) =>
  watchedConnection(await real()),
)
vi.mock('../../packages/jobmill/src/platform/gauges.ts', async (real) => watchedGauges(await real()))

watchNode()
const ofFile = begin()
let hasFailed = false

// The first hook of all: what it registers runs after all that others register.
beforeEach(({ onTestFinished, task }) => {
  const ofTest = begin()
  onTestFinished(async () => {
    // Whatever a test leaves when it breaks off is not news.
    const isBroken = task.result?.state === 'fail'
    const left = isBroken ? [] : await ofTest.left()
    if (isBroken) ofTest.breakOff()
    hasFailed ||= isBroken || left.length > 0
    complain('this test', left)
  }, 2 * patience.ms)
})

afterAll(async () => {
  const left = hasFailed ? [] : await ofFile.left()
  if (hasFailed || left.length > 0) ofFile.breakOff()
  complain('this file', left)
}, 2 * patience.ms)

// Hooks run last in, first out: after all of the file's, and before it is looked at.
afterAll(async () => {
  try {
    await endFile()
  } finally {
    // What the next file finds in its databases is not of these.
    stopped.clear()
  }
}, 2 * patience.ms)
