/** The waits between attempts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readConfig } from '../src/index.ts'
import { retryWaitMs } from '../src/work/backoff.ts'
import { envOf } from './support/scene.ts'

const { config } = readConfig({
  yaml: 'bots: { echo: { handler: echo, requireAuth: false } }',
  env: envOf(['echo']),
})
const retry = config?.bots[0]?.retry ?? { attempts: 0, backoffMs: [], jitter: 0 }

test('A9 F 30 s, 2 min, 10 min, then 1 h; dead at 5', () => {
  const steps = [1, 2, 3, 4, 5, 99].map((attempt) => retryWaitMs({ ...retry, jitter: 0 }, attempt, 0.3))
  expect(steps).toEqual([30_000, 120_000, 600_000, 3_600_000, 3_600_000, 3_600_000])
  expect(retry.attempts).toBe(5)
})

test('E8 each a fifth shorter or longer by chance, and never more', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, random) => {
        const whole = retryWaitMs({ ...retry, jitter: 0 }, attempt, random)
        const wait = retryWaitMs(retry, attempt, random)
        expect(wait).toBeGreaterThanOrEqual(Math.floor(whole * 0.8))
        expect(wait).toBeLessThanOrEqual(Math.ceil(whole * 1.2))
      },
    ),
  )
  expect(retryWaitMs(retry, 1, 0)).toBe(24_000)
  expect(retryWaitMs(retry, 1, 1)).toBe(36_000)
})
