/** Limits as written by users: defaults and refusals. */
import { expect, test } from 'vitest'
import {
  completeLimit,
  defaultBurst,
  type LimitOptions,
  limitParts,
  type LimitSettings,
  mostAtOnce,
} from '../../src/job/limit/limit.ts'
import { refusal } from './support.ts'

const read = (options: object): LimitSettings =>
  completeLimit(limitParts(options as LimitOptions, 'limits.api'))

test.each<[object, LimitSettings]>([
  [
    { rate: 50, per: '1m' },
    { type: 'rate', amount: 50, perMs: 60_000, burst: 1 },
  ],
  [{ rate: 50 }, { type: 'rate', amount: 50, perMs: 1_000, burst: 50 }],
  [
    { rate: 600, per: '1m' },
    { type: 'rate', amount: 600, perMs: 60_000, burst: 10 },
  ],
  [
    { rate: 5, per: 2_000, burst: 7 },
    { type: 'rate', amount: 5, perMs: 2_000, burst: 7 },
  ],
  [
    { rate: 1_000_000, per: 100, burst: 1_000_000 },
    { type: 'rate', amount: 1_000_000, perMs: 100, burst: 1_000_000 },
  ],
  [{ concurrency: 5 }, { type: 'concurrency', most: 5 }],
  [
    { rate: 1, perKey: true },
    { type: 'rate', amount: 1, perMs: 1_000, burst: 1, perKey: true },
  ],
  [
    { rate: 1, perKey: false },
    { type: 'rate', amount: 1, perMs: 1_000, burst: 1 },
  ],
])('%j is accepted', (options, settings) => {
  expect(read(options)).toEqual(settings)
})

test('the default burst is one second of the rate, and at least one', () => {
  expect([defaultBurst(1, 3_600_000), defaultBurst(90, 60_000), defaultBurst(7, 500)]).toEqual([1, 1, 14])
})

test('the most that a caller can get at once is the burst, or the number', () => {
  expect(mostAtOnce({ type: 'rate', amount: 5, perMs: 1, burst: 3 })).toBe(3)
  expect(mostAtOnce({ type: 'concurrency', most: 4 })).toBe(4)
})

test.each<[object, string, string]>([
  [{}, 'OPTION_INVALID', 'limits.api'],
  [{ rate: 0 }, 'NUMBER_INVALID', 'limits.api.rate'],
  [{ rate: 1.5 }, 'NUMBER_INVALID', 'limits.api.rate'],
  [{ rate: '50' }, 'NUMBER_INVALID', 'limits.api.rate'],
  [{ rate: 1_000_001 }, 'NUMBER_INVALID', 'limits.api.rate'],
  [{ rate: 5, per: 0 }, 'DURATION_INVALID', 'limits.api.per'],
  [{ rate: 5, per: 99 }, 'DURATION_INVALID', 'limits.api.per'],
  [{ rate: 5, per: -1 }, 'DURATION_INVALID', 'limits.api.per'],
  [{ rate: 5, per: 'soon' }, 'DURATION_INVALID', 'limits.api.per'],
  [{ rate: 5, burst: 0 }, 'NUMBER_INVALID', 'limits.api.burst'],
  [{ rate: 5, brust: 1 }, 'OPTION_UNKNOWN', 'limits.api.brust'],
  [{ rate: 5, perKey: 1 }, 'OPTION_INVALID', 'limits.api.perKey'],
  [{ concurrency: 1, perKey: true }, 'OPTION_CONFLICT', 'limits.api.perKey'],
  [{ concurrency: 0 }, 'NUMBER_INVALID', 'limits.api.concurrency'],
  [{ concurrency: 5, burst: 1 }, 'OPTION_UNKNOWN', 'limits.api.burst'],
  [{ concurrency: 5, rate: 1 }, 'OPTION_CONFLICT', 'limits.api'],
])('%j is refused', (options, code, field) => {
  const error = refusal(() => read(options))
  expect(error).toMatchObject({ code, field })
  expect(error.fix).toBeDefined()
})

test.each([null, 5, 'fast'])('%j is not a limit', (options) => {
  expect(refusal(() => read(options as unknown as object)).code).toBe('OPTION_INVALID')
})
