/** Parked handlers never end: their promises and listeners must be collected all the same. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'

const PARKS = inFull(100_000, 5_000)
/** An attempt that is not collected takes more than a kilobyte. */
const MOST_BYTES_PER_PARK = 200

test.each(inFull(['plain', 'listening'], ['listening']))(
  `P18 ${PARKS} parks leave the heap flat, with a handler that is %s`,
  async (how) => {
    const program = path.join(import.meta.dirname, 'parks-process.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      program,
      how,
      String(PARKS),
    ])
    const { parks, grownBytes } = JSON.parse(stdout) as {
      readonly parks: number
      readonly grownBytes: number
    }
    expect(parks).toBe(PARKS)
    expect(grownBytes / parks).toBeLessThan(MOST_BYTES_PER_PARK)
  },
  300_000,
)
