/** The waits between attempts. */
import fc from 'fast-check'
import { retryAfterMs } from '../src/handlers/http.ts'
import { describe, expect, test } from 'vitest'
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

describe('Retry-After of a service', () => {
  const now = 'Sun, 06 Nov 1994 08:49:37 GMT'
  test.each([
    ['2', 2_000],
    ['0.2', 1_000],
    ['1000000', 86_400_000],
    ['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:50:07 GMT', 30_000],
    ['Tue, 08 Nov 1994 08:50:07 GMT', 86_400_000],
    // In the past by the server's own clock, whatever ours says.
    ['Sun, 06 Nov 1994 08:49:37 GMT', null],
    ['0', null],
    ['-5', null],
    ['soon', null],
    ['', null],
  ])('E9 %j', (header, expected) => {
    expect(retryAfterMs(new Headers({ 'retry-after': header, date: now }))).toBe(expected)
  })

  test('E9 without a Date header our clock is used', () => {
    const headers = new Headers({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() })
    expect(Math.abs((retryAfterMs(headers) ?? 0) - 60_000)).toBeLessThan(10_000)
  })
})
