// Checks after every test and its cleanup that nothing it created is left: no timer, socket, server, child,
// thread, listener, open file, SQLite handle or mill. Resources that a file shares among its tests must be
// gone at its end. The check waits for resources that are closing.
import { afterAll, beforeEach, vi } from 'vitest'
import { endFile } from './file-end.ts'
import { begin, patience } from '../leaks/check.ts'
import { complain } from '../leaks/complain.ts'
import { stopped, watchedConnection, watchedGauges, watchedLife } from '../leaks/watch-jobmill.ts'
import { watchNode } from '../leaks/watch-node.ts'

vi.mock('../../../packages/jobmill/src/runtime/lifecycle.ts', async (real) => watchedLife(await real()))
vi.mock('../../../packages/jobmill/src/store-sqlite/connection/connection.ts', async (real) =>
  watchedConnection(await real()),
)
vi.mock('../../../packages/jobmill/src/platform/gauges.ts', async (real) => watchedGauges(await real()))

watchNode()
const ofFile = begin()
let hasFailed = false

// Registered first, so that it runs after all other hooks.
beforeEach(({ onTestFinished, task }) => {
  const ofTest = begin()
  onTestFinished(async () => {
    // Leaks of a failed test are expected.
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

// Hooks run in reverse order: this one runs after those of the file and before the check.
afterAll(async () => {
  try {
    await endFile()
  } finally {
    // Forget these instances: the next file has its own databases.
    stopped.clear()
  }
}, 2 * patience.ms)
