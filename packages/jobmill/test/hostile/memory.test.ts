/** Hostile texts need no more memory than their own size. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'

/** The texts alone are 40 MB. */
const HEAP_MEGABYTES = 96

/** After this many rounds, a leak in each round exceeds the heap. */
const TIMES = inFull(10, 3)

test(`all hostile inputs, in every place, ${TIMES} times, in a process with little memory`, async () => {
  const program = path.join(import.meta.dirname, 'in-little-memory.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    program,
    String(TIMES),
  ])
  expect(Number.parseInt(stdout, 10)).toBeGreaterThan(100 * TIMES)
}, 60_000)
