/** Helpers for cases about schedules. */
import assert from 'node:assert/strict'
import type { FullStore, ScheduleDefinition, ScheduleRecord } from 'jobmill/store'
import { aDefinition, aTick } from '../../factories.ts'
import { hasFields } from '../looks.ts'

/** Declares the schedule `daily`. */
export async function declare(
  store: FullStore,
  version: number,
  overrides: Partial<ScheduleDefinition> = {},
): Promise<void> {
  await store.schedules.declare([{ name: 'daily', version, definition: aDefinition(overrides) }])
}

export async function dailySchedule(store: FullStore): Promise<ScheduleRecord> {
  const schedule = (await store.schedules.list()).find(({ name }) => name === 'daily')
  assert.ok(schedule, 'schedule daily does not exist')
  return schedule
}

/** A first plan for `daily` as it is now. */
export async function plan(store: FullStore, nextAt: number): Promise<void> {
  const { revision } = await dailySchedule(store)
  hasFields((await store.schedules.tick([aTick('daily', { revision, nextAt })]))[0], { accepted: true })
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
