/** Helpers for cases about schedules and their ticks. */
import assert from 'node:assert/strict'
import {
  type FullStore,
  type NewJob,
  overlapKey,
  type ScheduleDefinition,
  type ScheduleRecord,
  type Tick,
  type Ticked,
} from 'jobmill/store'
import { aDefinition, aJob, aTick, only } from '../../factories.ts'
import type { Bench } from '../bench.ts'

export const NAME = 'daily'

/** Declares the schedule `daily`. */
export async function declare(
  store: FullStore,
  version: number,
  overrides: Partial<ScheduleDefinition> = {},
): Promise<void> {
  await store.schedules.declare([{ name: NAME, version, definition: aDefinition(overrides) }])
}

export async function dailySchedule(store: FullStore): Promise<ScheduleRecord> {
  const schedule = (await store.schedules.list()).find(({ name }) => name === NAME)
  assert.ok(schedule, 'schedule daily does not exist')
  return schedule
}

/** The only schedule. */
export async function onlySchedule(store: FullStore): Promise<ScheduleRecord> {
  return only(await store.schedules.list())
}

/** A first plan for `daily` as it is now. */
export async function plan(store: FullStore, nextAt: number): Promise<void> {
  const { revision } = await dailySchedule(store)
  assert.equal((await tick(store, { revision, nextAt })).accepted, true)
}

/** Creates the schedule, plans it for now, and returns that instant. */
export async function createPlanned({ store, clock }: Bench): Promise<number> {
  const { revision } = await store.schedules.create(NAME, aDefinition())
  assert.equal((await tick(store, { revision, nextAt: clock.now() })).accepted, true)
  return clock.now()
}

/** One job at each of these instants. */
export function firesAt(...instants: readonly number[]): Tick['fires'] {
  return instants.map((at) => ({ at, job: aJob() }))
}

/** No tick has been served, and no job was enqueued. */
export async function isUnserved({ store }: Bench): Promise<void> {
  assert.deepEqual(await store.schedules.ticks(NAME, 10), [])
  assert.deepEqual(await store.counts(), [])
}

export async function tick(store: FullStore, overrides: Partial<Tick>): Promise<Ticked> {
  return only(await store.schedules.tick([aTick(NAME, overrides)]))
}

/** A job as schedules with `overlap: 'skip'` enqueue it: never two at a time. */
export function nonOverlappingJob(): NewJob {
  return { ...aJob(), dedupe: { key: overlapKey(NAME), holdMs: 0, holdAfter: 'done', onConflict: 'keep' } }
}

export const FRESH = {
  revision: 1,
  planned: false,
  nextAt: null,
  lastAt: null,
  lastOutcome: null,
  lastJob: null,
  missed: 0,
  error: null,
}

export const TIMING: readonly Partial<ScheduleDefinition>[] = [
  { when: 'every 10m' },
  { zone: 'Europe/Rome' },
  { startAt: 5 },
  { endAt: 7_000_000_000_000 },
  { paused: true },
]

export const NOT_TIMING: readonly Partial<ScheduleDefinition>[] = [
  { jitterMs: 5 },
  { missed: 'all' },
  { missedWithinMs: 5 },
  { overlap: 'skip' },
  { kind: 'other' },
  { queue: 'other' },
  { payload: '{"a": [1]}' },
  { priority: -3 },
  { maxAttempts: 1 },
  { timeoutMs: 60_000 },
  { tags: ['b', 'a'] },
]
