/** The forms of queues and limits, and metrics on one time axis. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationMs } from '../../jobmill/src/job/duration.ts'
import { defaultBurst } from '../../jobmill/src/job/limit/limit.ts'
import { DEFAULT_QUEUE_SETTINGS, prepareQueueChange } from '../../jobmill/src/job/queue/queue-settings.ts'
import { along, averageNeighbors, timesOf } from '../src/api/charts/points.ts'
import { durationError, durationText, parseDuration } from '../src/kit/forms/duration.ts'
import { burstOf } from '../src/pages/limits/limit-form.ts'
import { limitWords } from '../src/pages/limits/limit-words.ts'
import { changeOf, draftOf, fieldOf, wrongIn } from '../src/pages/queues/queue-form.ts'

const ms = fc.nat({ max: 3_650 * 86_400_000 })
const QUEUE = { ...DEFAULT_QUEUE_SETTINGS, name: 'mail', coolingMs: 0, throttles: 0 }

describe('durations', () => {
  test('are parsed like the server does, and printed so that they can be parsed again', () => {
    fc.assert(
      fc.property(ms, (length) => {
        const text = durationText(length)
        expect(parseDuration(text)).toBe(length)
        expect(durationMs(text, 'x')).toBe(length)
        expect(durationError(text)).toBeUndefined()
      }),
    )
  })

  test('that are invalid are reported', () => {
    fc.assert(
      fc.property(fc.string(), (text) =>
        parseDuration(text) === null ? durationError(text) !== undefined : true,
      ),
    )
    expect(durationError('forever')).toContain('Enter a duration')
    expect(durationError('forever', { orForever: true })).toBeUndefined()
    expect(durationError('10ms', { leastMs: 100 })).toBe('The minimum is 100ms.')
    expect(durationError('2d', { mostMs: 86_400_000 })).toBe('The maximum is 1d.')
  })
})

describe('a queue', () => {
  const settings = fc.record({
    workers: fc.option(fc.nat({ max: 10_000 })),
    backoffEnabled: fc.boolean(),
    backoffBaseMs: fc.nat({ max: 1_000_000 }),
    backoffMaxMs: fc.integer({ min: 1_000_000, max: 9_000_000 }),
    retainDoneMs: fc.option(ms),
    retainCancelledMs: fc.option(ms),
    retainDeadMs: fc.option(ms),
    keepDone: fc.option(fc.nat({ max: 10_000_000 })),
    keepCancelled: fc.option(fc.nat({ max: 10_000_000 })),
    keepDead: fc.option(fc.nat({ max: 10_000_000 })),
    limit: fc.option(fc.constantFrom('smtp', 'sms')),
  })

  test('is changed from any settings to any others, and not at all where they are the same', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const draft = draftOf({ ...QUEUE, ...after })
        expect(wrongIn(draft)).toEqual({})
        const { settings: changed } = prepareQueueChange(changeOf({ ...QUEUE, ...before }, draft))
        expect({ ...before, ...changed }).toEqual(after)
        expect(changeOf({ ...QUEUE, ...after }, draft)).toEqual({})
      }),
    )
  })

  test('is refused at its fields', () => {
    const draft = {
      ...draftOf(QUEUE),
      workers: '-1',
      backoffBaseMs: '1h',
      backoffMaxMs: '1m',
      keepDead: '1.5',
    }
    expect(Object.keys(wrongIn(draft)).toSorted()).toEqual(['backoffBaseMs', 'keepDead', 'workers'])
    expect(fieldOf('queue.retain.dead.most')).toBe('keepDead')
    expect(fieldOf('retain.done')).toBe('retainDoneMs')
    expect(fieldOf('backoff.base')).toBe('backoffBaseMs')
    expect(fieldOf('elsewhere')).toBeUndefined()
  })
})

test('a limit is described, with the burst that the server uses', () => {
  expect(limitWords({ type: 'rate', amount: 6, perMs: 60_000, burst: 6 })).toBe('6 per 1 min, burst 6')
  expect(limitWords({ type: 'concurrency', most: 1_000 })).toBe('1,000 concurrent')
  for (const [amount, per, perMs] of [
    ['120', '1m', 60_000],
    ['5', '1h', 3_600_000],
    ['50', '1s', 1_000],
  ] as const)
    expect(burstOf({ amount, per })).toBe(defaultBurst(Number(amount), perMs))
})

test('points are placed at their times, with a default for gaps', () => {
  const times = timesOf({ from: 120_000, to: null, resolutionMs: 60_000 }, 310_000)
  expect(times).toEqual([120_000, 180_000, 240_000, 300_000])
  const points = [
    { at: 180_000, n: 3 },
    { at: 300_000, n: 5 },
  ]
  expect(along(times, points, ({ n }) => n, 0)).toEqual([0, 3, 0, 5])
  expect(along(times, points, ({ n }) => (n === 5 ? null : n), null)).toEqual([null, 3, null, null])
  expect(averageNeighbors([1, 3, 5, 7], 2)).toEqual([2, 6])
  expect(averageNeighbors([1, 2])).toEqual([1, 2])
})
