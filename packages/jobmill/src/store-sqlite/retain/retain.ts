/** Deletes jobs and records that exceed the retention settings, in bounded passes. */
import { DEFAULTS } from '../../job/defaults.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { Retained, RetainRequest } from '../../store/types/replies.ts'
import { removeJob } from '../finish/leave-running.ts'
import { CANCELLED, DEAD, DONE } from '../job-row.ts'
import { mergeLanes } from '../claim/lanes.ts'
import { dropFullKeys, FULL_KEYS } from '../limits/limit-row.ts'
import { DROP_LOST_JOBS } from '../instances/lost-jobs.ts'
import { dropSurplusVersions, rememberVersions } from '../inspect/versions.ts'
import { byEnd, oldJobs } from './old-jobs.ts'
import type { Look, Work } from '../work.ts'

// Each reads the front of an index on time, with a bound, so that no pass holds the write lock for long.
const DEDUPE = `jobmill_dedupe INDEXED BY jobmill_dedupe_expiry WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`
const TICKS = `jobmill_tick INDEXED BY jobmill_tick_served WHERE served_at <= ? ORDER BY served_at LIMIT ?`
const EVENTS = `jobmill_event INDEXED BY jobmill_event_at WHERE at <= ? ORDER BY at LIMIT ?`
const METRICS = `jobmill_metric INDEXED BY jobmill_metric_at WHERE resolution = ? AND at <= ? ORDER BY at LIMIT ?`
const PLACES = `jobmill_limit_waiter INDEXED BY jobmill_limit_waiter_since WHERE since <= ? ORDER BY since LIMIT ?`
const RECORDINGS = `jobmill_recording INDEXED BY jobmill_recording_at WHERE at <= ? ORDER BY at LIMIT ?`
const GROUPS = `jobmill_group INDEXED BY jobmill_group_used WHERE changed_at IS NULL AND running = 0 AND check_at IS NULL AND used_at <= ? LIMIT ?`
const PAST_INSTANCES = `jobmill_past_instance INDEXED BY jobmill_past_instance_ended WHERE ended_at <= ? ORDER BY ended_at LIMIT ?`

// Reads the front of jobmill_instance_ended, and looks up each instance in jobmill_job_running.
const INSTANCES = `jobmill_instance AS i INDEXED BY jobmill_instance_ended
  WHERE i.state > 0 AND i.ended_at <= ? AND NOT EXISTS (
    SELECT 1 FROM jobmill_job AS j INDEXED BY jobmill_job_running WHERE j.state = 2 AND j.instance_pk = i.pk)
  LIMIT ?`

const AT_MOST = 10_000

/** How long a waiter keeps its place in line, and how long a recording is recognized by its number. */
const PLACE_MS = 10 * 60_000
const RECORDING_MS = 24 * 3_600_000

/** How long a group keeps its number after its last job became due. A longer wait only costs it its turn. */
const GROUP_MS = 48 * 3_600_000

export function retain(work: Work, request: RetainRequest): Retained {
  const { limit, ticksMs, eventsMs, metricsMs, queues } = request
  const { sql, now, moves } = work
  // Each finds rows as above, and deletes them by their primary key.
  const drop = (key: string, rows: string, ...values: number[]): number => {
    const [table] = rows.split(' ')
    const text = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${rows})`
    return Number(sql(text).run(...values).changes)
  }
  const old = mergeLanes(oldJobs(work, queues, moves.unwritten), byEnd, limit)
  for (const job of old) removeJob(work, job)
  const keys = drop('key', DEDUPE, now, AT_MOST)
  rememberVersions(sql, INSTANCES, now - DEFAULTS.keepEndedInstanceMs, AT_MOST)
  const instances = drop('pk', INSTANCES, now - DEFAULTS.keepEndedInstanceMs, AT_MOST)
  if (instances > 0) {
    sql(DROP_LOST_JOBS).run()
    dropSurplusVersions(sql)
  }
  const ticks = drop('schedule, at', TICKS, now - ticksMs, limit)
  const events = drop('n', EVENTS, now - eventsMs, limit)
  const metrics = RESOLUTIONS.reduce((dropped, resolution, at) => {
    const before = now - (metricsMs[at] ?? 0) - resolution
    return dropped + drop('resolution, scope, at', METRICS, resolution, before, limit - dropped)
  }, 0)
  const others = [
    drop('limit_id, holder', PLACES, now - PLACE_MS, AT_MOST),
    // After the waiters, because a key with a waiter is kept.
    dropFullKeys(work, AT_MOST),
    drop('source', RECORDINGS, now - RECORDING_MS, AT_MOST),
    drop('id', GROUPS, now - GROUP_MS, AT_MOST),
    drop('id', PAST_INSTANCES, now - DEFAULTS.keepVersionsMs, AT_MOST),
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
    any(PLACES, now - PLACE_MS) ||
    any(FULL_KEYS, now) ||
    any(RECORDINGS, now - RECORDING_MS) ||
    any(GROUPS, now - GROUP_MS) ||
    any(PAST_INSTANCES, now - DEFAULTS.keepVersionsMs)
  )
}
