/** Hostile texts take no more memory than they have themselves. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** The texts alone are 40 MB. */
const HEAP_MEGABYTES = 96

test('all of them, everywhere, ten times, in a process with little memory', async () => {
  const program = path.join(import.meta.dirname, 'in-little-memory.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    program,
  ])
  expect(Number.parseInt(stdout, 10)).toBeGreaterThan(1_000)
}, 60_000)
