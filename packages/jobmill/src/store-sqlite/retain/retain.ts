/** Deletes what exceeds the retention settings, in bounded passes. */
import { DEFAULTS } from '../../job/defaults.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { Retained, RetainRequest } from '../../store/types/replies.ts'
import { removeJob } from '../operate/delete.ts'
import { CANCELLED, DEAD, DONE } from '../job-row.ts'
import { mergeLanes } from '../claim/lanes.ts'
import { dropFullKeys, FULL_KEYS } from '../limits/limit-keys.ts'
import { DROP_LOST_JOBS } from '../instances/lost-jobs.ts'
import { byEnd, oldJobs } from './old-jobs.ts'
import { anyLeftBehind, freeLeftBehind } from '../limits/permits.ts'
import type { Look, Work } from '../work.ts'

// Each the front of an index on time; bounded, so that no pass holds the write lock for long.
const DEDUPE = `jobmill_dedupe INDEXED BY jobmill_dedupe_expiry WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`
const TICKS = `jobmill_tick INDEXED BY jobmill_tick_served WHERE served_at <= ? ORDER BY served_at LIMIT ?`
const EVENTS = `jobmill_event INDEXED BY jobmill_event_at WHERE at <= ? ORDER BY at LIMIT ?`
const METRICS = `jobmill_metric INDEXED BY jobmill_metric_at WHERE resolution = ? AND at <= ? ORDER BY at LIMIT ?`
const PLACES = `jobmill_limit_waiter INDEXED BY jobmill_limit_waiter_since WHERE since <= ? ORDER BY since LIMIT ?`
const RECORDINGS = `jobmill_recording INDEXED BY jobmill_recording_at WHERE at <= ? ORDER BY at LIMIT ?`

// The front of jobmill_instance_ended, each looked up in jobmill_job_running.
const INSTANCES = `
  jobmill_instance AS i INDEXED BY jobmill_instance_ended
  WHERE i.state > 0 AND i.ended_at <= ? AND NOT EXISTS (
    SELECT 1 FROM jobmill_job AS j INDEXED BY jobmill_job_running WHERE j.state = 2 AND j.instance_pk = i.pk)
  LIMIT ?`

// Each found as above, and deleted by primary key.
const DROP_DEDUPE = `DELETE FROM jobmill_dedupe WHERE key IN (SELECT key FROM ${DEDUPE})`
const DROP_TICKS = `DELETE FROM jobmill_tick WHERE (schedule, at) IN (SELECT schedule, at FROM ${TICKS})`
const DROP_EVENTS = `DELETE FROM jobmill_event WHERE n IN (SELECT n FROM ${EVENTS})`
const DROP_METRICS = `
  DELETE FROM jobmill_metric WHERE (resolution, scope, at) IN (SELECT resolution, scope, at FROM ${METRICS})`
const DROP_PLACES = `DELETE FROM jobmill_limit_waiter WHERE (limit_id, holder) IN (SELECT limit_id, holder FROM ${PLACES})`
const DROP_RECORDINGS = `DELETE FROM jobmill_recording WHERE source IN (SELECT source FROM ${RECORDINGS})`
const DROP_INSTANCES = `DELETE FROM jobmill_instance WHERE pk IN (SELECT i.pk FROM ${INSTANCES})`

// As with permits: ending an instance deletes its slots, but an older release did not.
const DROP_SLOTS = `DELETE FROM jobmill_slot WHERE instance_pk IN (SELECT pk FROM jobmill_instance WHERE state > 0)`

const AT_MOST = 10_000

/** How long a waiter keeps its place in line, and how long a recording is recognized by its number. */
const PLACE_MS = 10 * 60_000
const RECORDING_MS = 24 * 3_600_000

export function retain(work: Work, request: RetainRequest): Retained {
  const { limit, ticksMs, eventsMs, metricsMs, queues } = request
  const { sql, now, moves } = work
  const drop = (text: string, ...values: number[]): number => Number(sql(text).run(...values).changes)
  const old = mergeLanes(oldJobs(work, queues, moves.unwritten), byEnd, limit)
  for (const job of old) removeJob(work, job)
  const keys = drop(DROP_DEDUPE, now, AT_MOST)
  // Before the instances are deleted, because the permits are found by their instance.
  freeLeftBehind(work)
  drop(DROP_SLOTS)
  const instances = drop(DROP_INSTANCES, now - DEFAULTS.keepEndedInstanceMs, AT_MOST)
  if (instances > 0) drop(DROP_LOST_JOBS)
  const ticks = drop(DROP_TICKS, now - ticksMs, limit)
  const events = drop(DROP_EVENTS, now - eventsMs, limit)
  const metrics = RESOLUTIONS.reduce(
    (dropped, resolution, at) =>
      dropped + drop(DROP_METRICS, resolution, now - (metricsMs[at] ?? 0) - resolution, limit - dropped),
    0,
  )
  const others = [
    drop(DROP_PLACES, now - PLACE_MS, AT_MOST),
    // After the waiters, because a key with a waiter is kept.
    dropFullKeys(work, AT_MOST),
    drop(DROP_RECORDINGS, now - RECORDING_MS, AT_MOST),
  ]
  const isFull =
    [old.length, ticks, events, metrics].some((n) => n >= limit) ||
    [keys, instances, ...others].some((n) => n >= AT_MOST)
  const ended = (state: number): number => old.filter((job) => job.state === state).length
  return {
    jobs: old.length,
    done: ended(DONE),
    dead: ended(DEAD),
    cancelled: ended(CANCELLED),
    keys,
    instances,
    ticks,
    events,
    metrics,
    more: isFull,
  }
}

/** Whether a pass would delete something, without the write lock. */
export function mayRetain(look: Look, { ticksMs, eventsMs, metricsMs, queues }: RetainRequest): boolean {
  const { sql, now } = look
  const any = (text: string, ...values: number[]): boolean =>
    sql(`SELECT 1 FROM ${text}`).get(...values, 1) !== undefined
  return (
    oldJobs(look, queues).some((lane) => lane.fetch(undefined, 1).length > 0) ||
    any(DEDUPE, now) ||
    any(INSTANCES, now - DEFAULTS.keepEndedInstanceMs) ||
    any(TICKS, now - ticksMs) ||
    any(EVENTS, now - eventsMs) ||
    RESOLUTIONS.some((resolution, at) => any(METRICS, resolution, now - (metricsMs[at] ?? 0) - resolution)) ||
    anyLeftBehind(look) ||
    any(PLACES, now - PLACE_MS) ||
    any(FULL_KEYS, now) ||
    any(RECORDINGS, now - RECORDING_MS)
  )
}
