// What to do about a schedule now: planned, on-time, missed and dropped ticks, and their jobs.
import { describe, expect, test } from 'vitest'
import type { ScheduleDefinition } from '../../src/job/schedule/schedule.ts'
import type { ScheduleRecord, Tick } from '../../src/store/types/schedule.ts'
import { planTick } from '../../src/upkeep/plan-ticks.ts'
import { refusal } from '../unit/support.ts'
import { aRecord, at } from './schedule-bench.ts'

type Known = Partial<ScheduleRecord> & { readonly now: string; readonly next?: string | null }

function plan(
  live: Partial<ScheduleDefinition>,
  { now, next = null, ...known }: Known,
  random = 0,
): Tick | null {
  const record = aRecord(live, { ...known, readAt: at(now), nextAt: next === null ? null : at(next) })
  let ids = 0
  return planTick(record, { mintId: () => `id ${(ids += 1)}`, random: () => random })
}

const iso = (instant: number): string => new Date(instant).toISOString().replace('.000Z', 'Z')

/** The ticks that fire, how many are dropped, and the next one. */
function summary(tick: Tick | null) {
  if (tick === null) return null
  const next = tick.nextAt === null ? null : iso(tick.nextAt)
  return { fires: tick.fires.map((fire) => iso(fire.at)), missed: tick.missed, next }
}

const HOURLY = '0 * * * *'

describe('a schedule that is not planned', () => {
  const unplanned = { planned: false, now: '2026-02-01T10:30:00Z' }

  test('gets its next tick, and fires nothing', () => {
    expect(plan({}, unplanned)).toEqual({
      schedule: 'nightly',
      revision: 3,
      from: null,
      nextAt: at('2026-02-01T11:00:00Z'),
      fires: [],
      missed: 0,
    })
  })

  test('counts from its creation if it is new, even if no process has planned it since', () => {
    const created = { revision: 1, createdAt: at('2026-02-01T07:59:00Z') }
    expect(summary(plan({}, { ...unplanned, ...created }))).toMatchObject({ next: '2026-02-01T08:00:00Z' })
  })

  test('has no tick before its start, and none after its end', () => {
    const start = { startAt: at('2026-03-01T00:00:00Z') }
    expect(summary(plan(start, unplanned))).toMatchObject({ next: '2026-03-01T00:00:00Z' })
    const ended = { endAt: at('2026-02-01T10:59:59Z') }
    expect(summary(plan(ended, unplanned))).toEqual({ fires: [], missed: 0, next: null })
  })
})

describe('there is nothing to do', () => {
  test.each<[string, Partial<ScheduleDefinition>, Known]>([
    [
      'for a paused schedule',
      { paused: true },
      { now: '2026-02-01T10:30:00Z', next: '2026-02-01T10:00:00Z' },
    ],
    [
      'for a paused schedule that is not planned',
      { paused: true },
      { now: '2026-02-01T10:30:00Z', planned: false },
    ],
    ['before the next tick', {}, { now: '2026-02-01T10:59:59Z', next: '2026-02-01T11:00:00Z' }],
    ['without a next tick', {}, { now: '2026-02-01T10:59:59Z', next: null }],
    ['after the clock stepped back', {}, { now: '2026-02-01T03:00:00Z', next: '2026-02-01T11:00:00Z' }],
  ])('%s', (_, live, known) => expect(plan(live, known)).toBeNull())
})

describe('ticks that are on time', () => {
  test('fire, and the next one follows from the last of them', () => {
    const tick = plan({}, { now: '2026-02-01T11:00:59Z', next: '2026-02-01T11:00:00Z' })
    expect(summary(tick)).toEqual({
      fires: ['2026-02-01T11:00:00Z'],
      missed: 0,
      next: '2026-02-01T12:00:00Z',
    })
    expect(tick?.from).toBe(at('2026-02-01T11:00:00Z'))
  })

  test.each(['skip', 'last', 'all'] as const)(
    'fire each, whatever the policy for missed ones: %s',
    (missed) => {
      const tick = plan(
        { when: '*/20 * * * * *', missed },
        { now: '2026-02-01T11:01:10Z', next: '2026-02-01T11:00:20Z' },
      )
      expect(summary(tick)).toEqual({
        fires: ['2026-02-01T11:00:20Z', '2026-02-01T11:00:40Z', '2026-02-01T11:01:00Z'],
        missed: 0,
        next: '2026-02-01T11:01:20Z',
      })
    },
  )

  test('are those of the last minute, to the millisecond', () => {
    const skip = { missed: 'skip' } as const
    const next = '2026-02-01T11:00:00Z'
    expect(plan(skip, { now: '2026-02-01T11:01:00.000Z', next })?.fires).toHaveLength(1)
    expect(plan(skip, { now: '2026-02-01T11:01:00.001Z', next })?.fires).toHaveLength(0)
  })

  test('have no next one after the end', () => {
    const endAt = at('2026-02-01T11:30:00Z')
    const tick = plan({ endAt }, { now: '2026-02-01T11:00:00Z', next: '2026-02-01T11:00:00Z' })
    expect(summary(tick)).toEqual({ fires: ['2026-02-01T11:00:00Z'], missed: 0, next: null })
  })
})

describe('missed ticks', () => {
  const night: Known = { now: '2026-02-02T06:30:00Z', next: '2026-02-01T22:00:00Z' }
  const onTheHour: Known = { ...night, now: '2026-02-02T07:00:10Z' }

  test('skip: are dropped', () => {
    expect(summary(plan({ missed: 'skip' }, night))).toEqual({
      fires: [],
      missed: 9,
      next: '2026-02-02T07:00:00Z',
    })
    expect(summary(plan({ missed: 'skip' }, onTheHour))).toEqual({
      fires: ['2026-02-02T07:00:00Z'],
      missed: 9,
      next: '2026-02-02T08:00:00Z',
    })
  })

  test('last: the newest fires, or all of them merge with one that is on time', () => {
    expect(summary(plan({ missed: 'last' }, night))).toEqual({
      fires: ['2026-02-02T06:00:00Z'],
      missed: 8,
      next: '2026-02-02T07:00:00Z',
    })
    expect(summary(plan({ missed: 'last' }, onTheHour))).toEqual({
      fires: ['2026-02-02T07:00:00Z'],
      missed: 9,
      next: '2026-02-02T08:00:00Z',
    })
  })

  test('all: those within the window fire', () => {
    const three = { missed: 'all', missedWithinMs: 3 * 3_600_000 } as const
    expect(summary(plan(three, night))).toEqual({
      fires: ['2026-02-02T04:00:00Z', '2026-02-02T05:00:00Z', '2026-02-02T06:00:00Z'],
      missed: 6,
      next: '2026-02-02T07:00:00Z',
    })
    expect(summary(plan({ missed: 'all' }, onTheHour))).toMatchObject({
      missed: 0,
      next: '2026-02-02T08:00:00Z',
    })
    expect(plan({ missed: 'all' }, onTheHour)?.fires).toHaveLength(10)
  })

  test('all: a window shorter than "on time" drops no tick that is on time', () => {
    const short = { when: '* * * * *', missed: 'all', missedWithinMs: 1_000 } as const
    const known = { now: '2026-02-01T11:01:30Z', next: '2026-02-01T11:00:00Z' }
    expect(summary(plan(short, known))).toEqual({
      fires: ['2026-02-01T11:01:00Z'],
      missed: 1,
      next: '2026-02-01T11:02:00Z',
    })
  })

  test('all: at most 100 at a time, and the next pass continues', () => {
    const minutes = { when: '* * * * *', missed: 'all' } as const
    const first = plan(minutes, { now: '2026-02-01T12:30:00Z', next: '2026-02-01T10:00:00Z' })
    expect(first?.fires).toHaveLength(100)
    expect(summary(first)).toMatchObject({ missed: 0, next: '2026-02-01T11:40:00Z' })
    const second = plan(minutes, { now: '2026-02-01T12:30:00Z', next: '2026-02-01T11:40:00Z' })
    expect(second?.fires).toHaveLength(51)
    expect(summary(second)?.next).toBe('2026-02-01T12:31:00Z')
  })

  test('are fewer at a time if their payloads are large', () => {
    const large = {
      when: '* * * * *',
      missed: 'all',
      payload: JSON.stringify('x'.repeat(1024 * 1024 - 2)),
    } as const
    expect(plan(large, { now: '2026-02-01T12:30:00Z', next: '2026-02-01T10:00:00Z' })?.fires).toHaveLength(4)
  })

  test.each([
    ['0 * * * * *', 10_000],
    ['every 1m', 6 * 365 * 1_440 + 2 * 1_440],
  ])('of years are counted without iterating over all of them: %s', (when, most) => {
    const startAt = at('2020-01-01T00:00:00Z')
    const known = { now: '2026-01-01T00:00:30Z', next: '2020-01-01T00:00:00Z' }
    const tick = summary(plan({ when, startAt, missed: 'skip' }, known))
    expect(tick).toEqual({ fires: ['2026-01-01T00:00:00Z'], missed: most, next: '2026-01-01T00:01:00Z' })
    const newest = plan({ when, startAt, missed: 'last' }, { ...known, now: '2026-01-01T00:00:00Z' })
    expect(newest?.fires).toHaveLength(2)
  })

  test('last: the newest of many millions', () => {
    const known = { now: '2026-01-01T02:30:00Z', next: '1990-01-01T00:00:00Z' }
    expect(summary(plan({ when: '* * 0 * * *' }, known))).toEqual({
      fires: ['2026-01-01T00:59:59Z'],
      missed: 9_999,
      next: '2026-01-02T00:00:00Z',
    })
  })
})

describe('a job', () => {
  const due = { now: '2026-02-01T11:00:30Z', next: '2026-02-01T11:00:00Z' }
  const job = (live: Partial<ScheduleDefinition>, random = 0) => plan(live, due, random)?.fires[0]?.job

  test('is complete, and names its schedule and tick', () => {
    const live = {
      kind: 'report',
      queue: 'q',
      payload: '[1]',
      priority: -1,
      maxAttempts: 2,
      timeoutMs: 9,
      tags: ['t'],
    }
    expect(job(live)).toEqual({
      id: 'id 1',
      kind: 'report',
      queue: 'q',
      payload: '[1]',
      priority: -1,
      maxAttempts: 2,
      dueAt: null,
      delayMs: 0,
      timeoutMs: 9,
      tags: ['t'],
      metadata: '{"schedule":"nightly","plannedAt":"2026-02-01T11:00:00.000Z"}',
      dedupe: null,
      orderKey: null,
      group: null,
    })
  })

  test('is due up to the jitter after its tick', () => {
    const planned = at('2026-02-01T11:00:00Z')
    expect(job({ jitterMs: 60_000 }, 0)).toMatchObject({ dueAt: planned, delayMs: 0 })
    expect(job({ jitterMs: 60_000 }, 0.5)?.dueAt).toBe(planned + 30_000)
    expect(job({ jitterMs: 60_000 }, 1 - 2 ** -47)?.dueAt).toBe(planned + 60_000)
  })

  test('holds the key of its schedule if that must not overlap', () => {
    expect(job({ overlap: 'skip' })?.dedupe).toEqual({
      key: 'schedule nightly',
      holdMs: 0,
      holdAfter: 'done',
      onConflict: 'keep',
    })
  })

  test('has its own id', () => {
    const tick = plan({ when: '* * * * *', missed: 'all' }, { ...due, next: '2026-02-01T10:58:00Z' })
    expect(tick?.fires.map(({ job: { id } }) => id)).toEqual(['id 1', 'id 2', 'id 3'])
  })
})

test('an invalid record is reported if there is something to plan', () => {
  const due = { now: '2026-02-01T11:00:30Z', next: '2026-02-01T11:00:00Z' }
  expect(refusal(() => plan({ when: 'whenever' }, due)).code).toBe('SCHEDULE_INVALID')
  expect(() => plan({ zone: 'Mars/Base' }, due)).toThrow('Mars/Base')
  expect(plan({ when: 'whenever' }, { ...due, now: '2026-02-01T10:00:00Z' })).toBeNull()
})

test('the same record gives the same plan in every process', () => {
  const known = { now: '2026-02-02T06:30:00Z', next: '2026-02-01T22:00:00Z' }
  expect(plan({ when: HOURLY, jitterMs: 5 }, known, 0.3)).toEqual(
    plan({ when: HOURLY, jitterMs: 5 }, known, 0.3),
  )
})
