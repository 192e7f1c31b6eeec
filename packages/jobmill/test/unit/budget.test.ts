/**
 * The arithmetic of limits: what is granted in any window, that no budget is lost at saturation, and the
 * order of waiters.
 */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  answer,
  type Answer,
  type Ask,
  available,
  type BudgetState,
  changeBudget,
  drainBudget,
  EMPTY_BUDGET,
  nextInMs,
  afterSpending,
} from '../../src/job/limit/budget.ts'
import type { ConcurrencySettings, LimitSettings, RateSettings } from '../../src/job/limit/limit.ts'

/** Tolerance in tokens for the rounding of instants. */
const HAIR = 0.01
const NOW = 1_700_000_000_000
const BUSY = { now: NOW, held: 0 }

function rate(amount: number, perMs = 1_000, burst = 1): RateSettings {
  return { type: 'rate', amount, perMs, burst }
}

function ask(overrides: Partial<Ask> = {}): Ask {
  return { amount: 1, waitUpToMs: 0, hasPlace: false, ...overrides }
}

/** One limit, with its state as a store keeps it. */
function budget(settings: LimitSettings, start: BudgetState = EMPTY_BUDGET) {
  let state = start
  let current = settings
  const places = new Set<string>()
  return {
    take(now: number, holder: string, overrides: Partial<Ask> = {}, held = 0): Answer {
      const request = ask({ ...overrides, hasPlace: places.has(holder) })
      const answered = answer(current, state, [request], { now, held })
      state = answered.state
      const [reply] = answered.answers
      if (reply === undefined) throw new Error('no answer')
      if (reply.outcome === 'granted') places.delete(holder)
      if (reply.outcome === 'later' && reply.takesPlace) places.add(holder)
      return reply
    },
    claim(now: number, most: number): number {
      const amount = Math.min(most, available(current, state, { now, held: 0 }))
      state = afterSpending(current, state, amount, now)
      return amount
    },
    drain(now: number, forMs: number): void {
      state = drainBudget(current, state, forMs, now)
    },
    change(now: number, to: LimitSettings): void {
      state = changeBudget(current, to, state, now)
      current = to
      places.clear()
    },
    free: (now: number, held = 0) => available(current, state, { now, held }),
    next: (now: number, held = 0) => nextInMs(current, state, { now, held }),
  }
}

/** The largest excess of any window, in tokens; at most 0 when the limit holds. */
function excess(
  { amount, perMs, burst }: RateSettings,
  grants: readonly { at: number; tokens: number }[],
): number {
  const inOrder = grants.toSorted((a, b) => a.at - b.at)
  let most = Number.NEGATIVE_INFINITY
  for (const [n, first] of inOrder.entries()) {
    let tokens = 0
    for (const { at, tokens: more } of inOrder.slice(n)) {
      tokens += more
      most = Math.max(most, tokens - burst - (amount * (at - first.at)) / perMs)
    }
  }
  return most
}

const settings = fc
  .record({
    amount: fc.integer({ min: 1, max: 200 }),
    perMs: fc.constantFrom(100, 1_000, 7_000, 60_000),
    burst: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ amount, perMs, burst }) => rate(amount, perMs, burst))

interface Step {
  readonly afterMs: number
  readonly act: 'take' | 'claim' | 'drain'
  readonly amount: number
  readonly waitUpToMs: number
  readonly holder: string
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 5_000 })),
  act: fc.constantFrom('take', 'take', 'take', 'take', 'claim', 'drain'),
  amount: fc.integer({ min: 1, max: 6 }),
  waitUpToMs: fc.constantFrom(0, 100, 1_000),
  holder: fc.constantFrom('a', 'b', 'c', 'd'),
})

interface Granted {
  readonly at: number
  readonly tokens: number
  /** By how much a wait exceeded its limit; at most 0 when it did not. */
  readonly overMs: number
  /** How long before the end of a drain. */
  readonly earlyMs: number
}

/** The grants of these steps, one after the other. */
function history(limit: RateSettings, steps: readonly Step[]): Granted[] {
  const one = budget(limit)
  const grants: Granted[] = []
  let now = NOW
  let drainedUntil = NOW
  const note = (waitMs: number, tokens: number, upToMs: number): void => {
    const at = now + waitMs
    grants.push({ at, tokens, overMs: waitMs - upToMs, earlyMs: drainedUntil - at })
  }
  for (const { afterMs, act, amount, waitUpToMs, holder } of steps) {
    now += afterMs
    if (act === 'drain') {
      one.drain(now, amount * 300)
      drainedUntil = Math.max(drainedUntil, now + amount * 300)
    } else if (act === 'claim') {
      const tokens = one.claim(now, amount)
      if (tokens > 0) note(0, tokens, 0)
    } else {
      const reply = one.take(now, holder, { amount, waitUpToMs })
      if (reply.outcome === 'granted') note(reply.waitMs, amount, waitUpToMs)
    }
  }
  return grants
}

const someSteps = fc.array(step, { minLength: 1, maxLength: 60 })

describe('a rate', () => {
  test('P13 grants at most burst + rate × time in any window, for any requests', () => {
    fc.assert(
      fc.property(settings, someSteps, (limit, steps) => {
        expect(excess(limit, history(limit, steps))).toBeLessThan(HAIR)
      }),
      { numRuns: 300 },
    )
  })

  test('P13 never grants a longer wait than requested, and grants nothing before a drain ends', () => {
    fc.assert(
      fc.property(settings, someSteps, (limit, steps) => {
        const grants = history(limit, steps)
        expect(Math.max(0, ...grants.map(({ overMs }) => overMs))).toBe(0)
        expect(Math.max(0, ...grants.map(({ earlyMs }) => earlyMs))).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  test('P13 grants exactly the reported number of free tokens, and the next one at the reported time', () => {
    fc.assert(
      fc.property(settings, fc.array(step, { maxLength: 30 }), (limit, steps) => {
        const one = budget(limit)
        let now = NOW
        for (const { afterMs, amount, holder, waitUpToMs } of steps) {
          now += afterMs
          one.take(now, holder, { amount, waitUpToMs })
        }
        const free = one.free(now)
        expect(one.claim(now, 1_000)).toBe(free)
        expect(one.free(now)).toBe(0)
        const inMs = one.next(now) ?? 0
        expect(inMs).toBeGreaterThan(0)
        expect(one.free(now + inMs)).toBeGreaterThan(0)
        // Not a millisecond earlier.
        expect(one.free(now + inMs - 1)).toBe(0)
      }),
    )
  })

  test('refuses an amount above the burst for good, without spending tokens', () => {
    const one = budget(rate(10, 1_000, 5))
    expect(one.take(NOW, 'a', { amount: 6, waitUpToMs: 10_000 })).toEqual({ outcome: 'never', most: 5 })
    expect(one.free(NOW)).toBe(5)
  })

  test('answers the requests of one call in order', () => {
    const { answers } = answer(rate(10, 1_000, 2), EMPTY_BUDGET, [ask(), ask({ amount: 2 }), ask()], BUSY)
    expect(answers.map(({ outcome }) => outcome)).toEqual(['granted', 'later', 'granted'])
  })

  test('grants a token in advance, with the time to wait for it, to a caller that can wait', () => {
    const one = budget(rate(10))
    const waits = [1, 2, 3, 4].map((n) => one.take(NOW, `h${n}`, { waitUpToMs: 250 }))
    expect(waits.slice(0, 3)).toEqual([0, 100, 200].map((waitMs) => ({ outcome: 'granted', waitMs })))
    expect(waits[3]?.outcome).toBe('later')
  })

  test('a caller that does not wait reserves no place and does not delay others', () => {
    const one = budget(rate(1, 1_000))
    one.take(NOW, 'first')
    for (let n = 0; n < 100; n += 1) {
      expect(one.take(NOW, `try ${n}`)).toEqual({ outcome: 'later', inMs: 1_000, takesPlace: false })
    }
    expect(one.take(NOW, 'patient', { waitUpToMs: 1_000 })).toEqual({ outcome: 'granted', waitMs: 1_000 })
  })

  test('a caller is sent away until the token is near enough for its longest wait', () => {
    const one = budget(rate(1, 10_000))
    one.take(NOW, 'first')
    one.take(NOW, 'second', { waitUpToMs: 100 })
    expect(one.take(NOW, 'second', { waitUpToMs: 100 })).toEqual({
      outcome: 'later',
      inMs: 9_900,
      takesPlace: true,
    })
    expect(one.take(NOW + 9_900, 'second', { waitUpToMs: 100 })).toEqual({ outcome: 'granted', waitMs: 100 })
  })

  test('reserves places for at most one minute: later callers must ask again', () => {
    const one = budget(rate(1, 10_000))
    const answers = Array.from({ length: 10 }, (_, n) => one.take(NOW, `h${n}`, { waitUpToMs: 1_000 }))
    expect(answers.map((each) => 'takesPlace' in each && each.takesPlace)).toEqual([
      false,
      ...Array.from({ length: 5 }, () => true),
      ...Array.from({ length: 4 }, () => false),
    ])
    expect(answers.at(-1)).toMatchObject({ inMs: 60_000 })
  })
})

/** A deterministic generator: the same jobs arrive at the same instants in every run. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

interface Load {
  readonly jobs: number
  /** One more new job after each of these intervals. */
  readonly newcomerEveryMs?: number
  readonly lateUpToMs: number
  readonly forMs: number
}

/**
 * Each job requests a token and waits for up to a second; a refused job returns a little late. Returns the
 * grants of each minute.
 */
function simulate(limit: RateSettings, { jobs, newcomerEveryMs, lateUpToMs, forMs }: Load) {
  const one = budget(limit)
  const random = chance(7)
  const due = Array.from({ length: jobs }, (_, n) => ({ holder: `job ${n}`, at: NOW + n }))
  if (newcomerEveryMs !== undefined)
    for (let at = 0; at < forMs; at += newcomerEveryMs) due.push({ holder: `new ${at}`, at: NOW + at })
  const grants: { holder: string; at: number }[] = []
  due.sort((a, b) => b.at - a.at)
  for (let next = due.pop(); next !== undefined && next.at < NOW + forMs; next = due.pop()) {
    const reply = one.take(next.at, next.holder, { waitUpToMs: 1_000 })
    if (reply.outcome === 'granted') grants.push({ holder: next.holder, at: next.at + reply.waitMs })
    if (reply.outcome !== 'later') continue
    const at = next.at + reply.inMs + Math.round(random() * lateUpToMs)
    const place = due.findLastIndex((one) => one.at > at)
    due.splice(place + 1, 0, { holder: next.holder, at })
  }
  return grants
}

describe('at saturation', () => {
  const FIFTY = rate(50, 60_000)
  const TEN_MINUTES = 600_000

  test.each([
    { what: 'enough jobs for the time', jobs: 600, lateUpToMs: 0 },
    { what: 'jobs that come back late', jobs: 600, lateUpToMs: 700 },
    { what: '1,000 jobs waiting', jobs: 1_000, lateUpToMs: 300 },
  ])('P13 uses at least 49 of 50 tokens per minute: $what', ({ jobs, lateUpToMs }) => {
    const grants = simulate(FIFTY, { jobs, lateUpToMs, forMs: TEN_MINUTES })
    expect(grants.length).toBeGreaterThanOrEqual(490)
    expect(
      excess(
        FIFTY,
        grants.map(({ at }) => ({ at, tokens: 1 })),
      ),
    ).toBeLessThan(HAIR)
  })

  test('P13 a fast rate wastes no token either, with new callers and callers that return late', () => {
    const limit = rate(50, 1_000, 50)
    const grants = simulate(limit, { jobs: 1_000, newcomerEveryMs: 25, lateUpToMs: 400, forMs: 20_000 })
    expect(grants.length).toBeGreaterThanOrEqual(50 + 980)
    expect(
      excess(
        limit,
        grants.map(({ at }) => ({ at, tokens: 1 })),
      ),
    ).toBeLessThan(HAIR)
  })

  test('P13 serves every waiting caller, even if new ones never stop', () => {
    const grants = simulate(FIFTY, { jobs: 40, newcomerEveryMs: 300, lateUpToMs: 300, forMs: 150_000 })
    const served = grants.filter(({ holder }) => holder.startsWith('job'))
    expect(served.length).toBe(40)
    // Within about the length of the queue at their arrival.
    expect(Math.max(...served.map(({ at }) => at)) - NOW).toBeLessThan(120_000)
  })

  test('P13 new callers that need one token do not starve a caller that needs many', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 10 }),
        fc.constantFrom(200, 1_000, 1_200, 5_000),
        fc.integer({ min: 0, max: 400 }),
        (amount, costMs, lateMs) => {
          const one = budget(rate(1, costMs, 10))
          let backAt = NOW
          let isServed = false
          for (let now = NOW; now < NOW + 40 * costMs + 60_000 && !isServed; now += 50) {
            for (const n of [1, 2]) one.take(now, `new ${n} ${now}`, { waitUpToMs: 1_000 })
            if (now < backAt) continue
            const reply = one.take(now, 'many', { amount, waitUpToMs: 1_000 })
            isServed = reply.outcome === 'granted'
            if (reply.outcome === 'later') backAt = now + reply.inMs + lateMs
          }
          expect(isServed).toBe(true)
        },
      ),
    )
  })

  test('P13 a caller that never returns wastes no token', () => {
    const one = budget(rate(1, 1_000, 5))
    for (let n = 0; n < 30; n += 1) one.take(NOW, `gone ${n}`, { waitUpToMs: 1 })
    let granted = 0
    for (let now = NOW + 5_000; now < NOW + 65_000; now += 100)
      if (one.take(now, `new ${now}`, { waitUpToMs: 1_000 }).outcome === 'granted') granted += 1
    expect(granted).toBeGreaterThanOrEqual(60)
  })
})

describe('a drain', () => {
  test('P13 grants one token when it ends, and the others at the rate', () => {
    const one = budget(rate(10, 1_000, 5))
    one.drain(NOW, 3_000)
    expect(one.next(NOW)).toBe(3_000)
    expect([2_999, 3_000, 3_099, 3_100, 3_200].map((ms) => one.free(NOW + ms))).toEqual([0, 1, 1, 2, 3])
  })

  test('P13 is never shortened, and without a time only removes the saved tokens', () => {
    const one = budget(rate(10, 1_000, 5))
    one.drain(NOW, 3_000)
    one.drain(NOW, 10)
    expect(one.next(NOW)).toBe(3_000)
    const other = budget(rate(10, 1_000, 5))
    other.drain(NOW, 0)
    expect([other.free(NOW), other.next(NOW), other.free(NOW + 100)]).toEqual([0, 100, 1])
  })

  test('P13 withholds permits until it ends', () => {
    const one = budget({ type: 'concurrency', most: 2 })
    one.drain(NOW, 500)
    expect([one.free(NOW, 1), one.next(NOW, 1)]).toEqual([0, 500])
    const reply = one.take(NOW, 'a', { waitUpToMs: 1_000 }, 1)
    expect('inMs' in reply && reply.inMs).toBeGreaterThanOrEqual(500)
    one.drain(NOW + 100, 10)
    expect(one.next(NOW + 100, 1)).toBe(400)
    expect(one.take(NOW + 500, 'a', {}, 1).outcome).toBe('granted')
  })
})

describe('a change of settings', () => {
  test('P13 charges granted tokens at the new rate', () => {
    const one = budget(rate(1, 1_000, 4))
    one.claim(NOW, 4)
    one.change(NOW, rate(10, 1_000, 4))
    expect([0, 100, 200, 400].map((ms) => one.free(NOW + ms))).toEqual([0, 1, 2, 4])
  })

  test('P13 does not change the length of a drain', () => {
    for (const after of [rate(1, 60_000), rate(1_000), rate(7, 1_000, 5)]) {
      const one = budget(rate(1, 1_000))
      one.drain(NOW, 60_000)
      one.change(NOW + 10_000, after)
      expect(one.next(NOW + 10_000)).toBe(50_000)
      expect(one.free(NOW + 59_999)).toBe(0)
      expect(one.free(NOW + 60_000)).toBeGreaterThan(0)
    }
  })

  test('P13 grants at most the new burst at once, even if the limit was drained as a concurrency limit', () => {
    const one = budget({ type: 'concurrency', most: 9 })
    one.drain(NOW, 400)
    const limit = rate(10, 1_000, 3)
    one.change(NOW, limit)
    const grants = Array.from({ length: 10 }, (_, n) => one.take(NOW, `h${n}`, { waitUpToMs: 400 }))
      .filter(({ outcome }) => outcome === 'granted')
      .map((reply) => ({ at: NOW + ('waitMs' in reply ? reply.waitMs : 0), tokens: 1 }))
    expect(grants).toHaveLength(3)
    expect(excess(limit, grants)).toBeLessThan(HAIR)
  })

  test('from a rate to concurrency and back leaves no debt', () => {
    const one = budget(rate(1, 60_000))
    one.claim(NOW, 1)
    one.change(NOW, { type: 'concurrency', most: 2 })
    expect(one.free(NOW)).toBe(2)
    one.change(NOW, rate(1, 60_000, 3))
    expect(one.free(NOW)).toBe(3)
  })

  test('drops the reserved places', () => {
    const one = budget(rate(1, 10_000))
    for (const holder of ['a', 'b', 'c']) one.take(NOW, holder, { waitUpToMs: 1_000 })
    one.change(NOW, rate(1, 1_000))
    expect(one.take(NOW, 'new', { waitUpToMs: 1_000 })).toEqual({ outcome: 'granted', waitMs: 1_000 })
  })
})

describe('concurrency', () => {
  const limit: ConcurrencySettings = { type: 'concurrency', most: 5 }

  test('P13 never grants more permits than the limit, for any requests', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ amount: fc.integer({ min: 1, max: 6 }), back: fc.boolean() })),
        (steps) => {
          const one = budget(limit)
          const out: number[] = []
          for (const { amount, back } of steps) {
            if (back) out.shift()
            const held = out.reduce((sum, each) => sum + each, 0)
            expect(one.free(NOW, held)).toBe(5 - held)
            const reply = one.take(NOW, `h${amount}`, { amount }, held)
            expect(reply.outcome).toBe(amount > 5 ? 'never' : held + amount <= 5 ? 'granted' : 'later')
            if (reply.outcome === 'granted') out.push(amount)
          }
        },
      ),
    )
  })

  test('P13 counts the requests of one call one after the other', () => {
    const asks = [ask({ amount: 3 }), ask({ amount: 3 }), ask({ amount: 2 }), ask({ amount: 6 })]
    const { answers } = answer(limit, EMPTY_BUDGET, asks, BUSY)
    expect(answers.map(({ outcome }) => outcome)).toEqual(['granted', 'later', 'granted', 'never'])
  })

  test('gives each refused caller its own time to return, within a minute', () => {
    const one = budget(limit)
    const times = Array.from({ length: 2_000 }, (_, n) => {
      const reply = one.take(NOW, `h${n}`, { waitUpToMs: 1_000 }, 5)
      return 'inMs' in reply ? reply.inMs : 0
    })
    expect(new Set(times.slice(0, 1_000)).size).toBe(1_000)
    expect(Math.min(...times)).toBeGreaterThan(0)
    expect(Math.max(...times)).toBeLessThanOrEqual(60_000)
  })

  test('a caller that does not wait does not delay others', () => {
    const one = budget(limit)
    for (let n = 0; n < 1_000; n += 1) one.take(NOW, `try ${n}`, {}, 5)
    const reply = one.take(NOW, 'patient', { waitUpToMs: 1_000 }, 5)
    expect('inMs' in reply && reply.inMs).toBeLessThan(1_000)
  })

  test('has no free permit and no next time while more are held than a lowered limit allows', () => {
    const one = budget(limit)
    expect([one.free(NOW, 7), one.next(NOW, 7), one.next(NOW, 4)]).toEqual([0, null, 0])
  })
})
