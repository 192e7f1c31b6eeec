/** Helpers for cases about ticks. */
import assert from 'node:assert/strict'
import {
  type FullStore,
  type NewJob,
  overlapKey,
  type ScheduleRecord,
  type Tick,
  type Ticked,
} from 'jobmill/store'
import { aDefinition, aJob, aTick } from '../../factories.ts'
import { only } from '../bench.ts'

export const NAME = 'daily'

/** Creates the schedule and plans it for this instant. */
export async function createPlanned(store: FullStore, at: number): Promise<void> {
  const { revision } = await store.schedules.create(NAME, aDefinition())
  assert.equal((await tick(store, { revision, nextAt: at })).accepted, true)
}

export async function tick(store: FullStore, overrides: Partial<Tick>): Promise<Ticked> {
  return only(await store.schedules.tick([aTick(NAME, overrides)]))
}

export async function scheduleRecord(store: FullStore): Promise<ScheduleRecord> {
  return only(await store.schedules.list())
}

/** A job as schedules with `overlap: 'skip'` enqueue it: never two at a time. */
export function nonOverlappingJob(): NewJob {
  return { ...aJob(), dedupe: { key: overlapKey(NAME), holdMs: 0, holdAfter: 'done', onConflict: 'keep' } }
}
