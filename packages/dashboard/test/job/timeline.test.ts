/** The timeline of a job: to scale, everything visible, labels apart. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attempt, Job, Outcome } from '../../src/api/types.ts'
import { partsOf, widthsOf } from '../../src/pages/job/timeline/geometry.ts'
import { placeLabels } from '../../src/pages/job/timeline/labels.ts'
import { ranMs, triesOf } from '../../src/pages/job/tries.ts'

const T0 = 1_800_000_000_000

const job = (some: Partial<Job> = {}): Job =>
  ({
    state: 'dead',
    enqueuedAt: T0,
    endedAt: null,
    startedAt: null,
    attempt: 1,
    instance: null,
    log: [],
    ...some,
  }) as Job

function attempt(startedAt: number | null, endedAt: number, outcome: Outcome = 'failed'): Attempt {
  return {
    attempt: 1,
    token: 1,
    instance: 'i',
    version: null,
    startedAt,
    endedAt,
    outcome,
    error: null,
    log: [],
  }
}

const rounded = (n: number): number => Math.round(n * 1_000) / 1_000

test('attempts have their wait, and the running one is last', () => {
  const tries = triesOf(job({ state: 'running', startedAt: T0 + 900, attempt: 2 }), [
    attempt(T0 + 100, T0 + 400),
  ])
  expect(tries.map(({ n, outcome, waitedMs, endedAt }) => ({ n, outcome, waitedMs, endedAt }))).toEqual([
    { n: 1, outcome: 'failed', waitedMs: 100, endedAt: T0 + 400 },
    { n: 2, outcome: 'running', waitedMs: 500, endedAt: null },
  ])
  expect(tries.map((one) => ranMs(one, T0 + 1_000))).toEqual([300, 100])
  // Cancelled while it waited, so it never ran.
  const [cancelled] = triesOf(job(), [attempt(null, T0 + 50, 'cancelled')])
  expect(cancelled).toMatchObject({ waitedMs: 50, startedAt: null })
  expect(cancelled === undefined ? 0 : ranMs(cancelled, T0)).toBeNull()
})

describe('geometry', () => {
  test('what is long enough is to scale', () => {
    const life = job({ endedAt: T0 + 1_000 })
    const parts = partsOf(
      life,
      triesOf(life, [attempt(T0 + 200, T0 + 500), attempt(T0 + 700, T0 + 1_000)]),
      T0 + 9_000,
    )
    expect(parts.map(({ key, left, width }) => [key, rounded(left), rounded(width)])).toEqual([
      ['wait 0', 0, 0.2],
      ['run 1', 0.2, 0.3],
      ['wait 2', 0.5, 0.2],
      ['run 2', 0.7, 0.3],
    ])
  })

  test('a run of a millisecond within days is visible, and a running attempt ends now', () => {
    const running = job({ state: 'running', startedAt: T0 + 86_400_000, endedAt: null })
    const parts = partsOf(running, triesOf(running, [attempt(T0 + 5, T0 + 6)]), T0 + 86_400_001)
    expect(parts.map(({ run, to }) => [run?.outcome ?? 'wait', to - T0])).toEqual([
      ['wait', 5],
      ['failed', 6],
      ['wait', 86_400_000],
      ['running', 86_400_001],
    ])
    expect(parts.map(({ width }) => rounded(width))).toEqual([0.003, 0.012, 0.973, 0.012])
  })

  test('zero durations and a clock that goes back still make a timeline', () => {
    const life = job({ endedAt: T0 })
    expect(partsOf(life, triesOf(life, [attempt(T0, T0)]), T0).map(({ width }) => width)).toEqual([1])
    const early = job({ endedAt: T0 - 5 })
    expect(partsOf(early, triesOf(early, [attempt(T0 - 9, T0 - 5)]), T0)).toHaveLength(1)
    expect(partsOf(job({ state: 'ready' }), [], T0)).toEqual([])
  })

  test('whatever the lengths: they fill the line in order, none is invisible, longer is never narrower', () => {
    const lengths = fc.array(fc.oneof(fc.nat(10), fc.nat(100_000_000)), { minLength: 1, maxLength: 101 })
    fc.assert(
      fc.property(lengths, (input) => {
        const widths = widthsOf(
          input,
          input.map((_, at) => (at % 2 === 0 ? 0.003 : 0.012)),
        )
        expect(widths.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 9)
        // 101 parts at their minimum would take more than half, so each takes a share of that half.
        for (const width of widths) expect(width).toBeGreaterThan(0.0015)
        // Among runs and among waits, a longer one is never narrower.
        for (const sort of [0, 1]) {
          const own = input.flatMap((length, at) =>
            at % 2 === sort ? [{ length, width: widths[at] ?? 0 }] : [],
          )
          const byLength = own
            .toSorted((a, b) => a.length - b.length || a.width - b.width)
            .map(({ width }) => width)
          const rising = byLength.every((width, at) => width >= (byLength[at - 1] ?? 0) - 1e-9)
          expect(rising).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })
})

const request = (key: string, middle: number) => ({
  key,
  middle,
  texts: [`#${key} failed, 1.2 s`, `#${key} failed`, `#${key}`],
})

describe('labels', () => {
  test('each gets a short one before any gets a long one', () => {
    const labels = placeLabels([request('3', 300), request('1', 20), request('2', 60)], 400)
    expect(labels.map(({ text }) => text)).toEqual(['#3 failed, 1.2 s', '#1', '#2'])
  })

  test('never touch, never leave the line', () => {
    const requests = fc
      .array(fc.nat(1_000), { maxLength: 50 })
      .map((middles) => middles.map((middle, at) => request(String(at), middle)))
    fc.assert(
      fc.property(requests, fc.nat(1_000), (input, width) => {
        const labels = placeLabels(input, width).toSorted((a, b) => a.left - b.left)
        for (const [at, { left, width: own }] of labels.entries()) {
          expect(left).toBeGreaterThanOrEqual(0)
          expect(left + own).toBeLessThanOrEqual(width)
          expect((labels[at + 1]?.left ?? 2_000) - (left + own)).toBeGreaterThanOrEqual(8)
        }
      }),
    )
  })
})
