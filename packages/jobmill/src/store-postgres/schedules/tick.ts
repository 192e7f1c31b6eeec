/**
 * Serves planned instants: inserts the job, records the tick and advances the schedule in one transaction.
 * The schedule row is locked, so a concurrent second call finds another next instant. The key of `tick`
 * prevents serving an instant twice.
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { isCurrent, type StoredSchedule } from '../../store/stored-schedule.ts'
import type { Tick, Ticked, TickOutcome, TickRecord } from '../../store/types/schedule.ts'
import { ask, askWith, type Context, inTransaction } from '../context.ts'
import { ensureNames, enqueueWith } from '../enqueue/enqueue.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'
import { type ReadyCounts, readyCounts, notifyFor } from '../enqueue/ready-counts.ts'
import { lockSchedules, saveRows } from './schedule-row.ts'

/** Uses the primary key. Returns nothing for instants that were served before. */
const NOTE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.tick (schedule, at, outcome, job_id, served_at)
SELECT x.schedule, x.at, 'enqueued', x.job_id, ${NOW}
  FROM given, json_to_recordset(p -> 'ticks') AS x(schedule text, at int8, job_id uuid) ORDER BY 1, 2
ON CONFLICT (schedule, at) DO NOTHING RETURNING schedule, at`

const SKIPPED = `
WITH ${GIVEN_CTE}
UPDATE jobmill.tick AS t SET outcome = 'skipped', job_id = x.job_id
  FROM given, json_to_recordset(p -> 'ticks') AS x(schedule text, at int8, job_id uuid)
 WHERE t.schedule = x.schedule AND t.at = x.at`

/** A range of the primary key, read from its end. */
const TICKS = `
SELECT at, outcome, job_id AS job, served_at AS "servedAt" FROM jobmill.tick WHERE schedule = $1 ORDER BY at DESC LIMIT $2`

interface Fire {
  readonly schedule: string
  readonly at: number
  readonly job: NewJob
}

interface Served extends Fire {
  readonly outcome: TickOutcome
  /** The new job, or the one that still waits or runs. */
  readonly id: string
}

export async function tick(context: Context, items: readonly Tick[]): Promise<Ticked[]> {
  if (items.length === 0) return []
  for (;;) {
    const done = await inTransaction(context, (inside) => tickOnce(inside, items))
    if ('ticked' in done) {
      notifyFor(context, done.counts)
      return done.ticked
    }
    await ensureNames(context, done.unnamed)
  }
}

/** New names are written outside of the transaction, as for every enqueue, but not for refused ticks. */
type Done =
  | { readonly ticked: Ticked[]; readonly counts: ReadyCounts }
  | { readonly unnamed: readonly NewJob[] }

/**
 * Limits the wait for a dedupe key that an open user transaction holds, so that it does not delay other
 * schedules.
 */
const KEY_WAIT = 'SET LOCAL lock_timeout = 300'

async function tickOnce(inside: Context, items: readonly Tick[]): Promise<Done> {
  const isKeyed = items.some(({ fires }) => fires.some(({ job }) => job.dedupe !== null))
  if (isKeyed) await askWith(inside, KEY_WAIT)
  const names = items.map(({ schedule }) => schedule)
  const { byName } = await lockSchedules(inside, names)
  const { verdicts, stepped } = step(items, byName)
  const accepted = items.filter((_, n) => verdicts[n])
  const jobs = accepted.flatMap(({ fires }) => fires.map(({ job }) => job))
  if (!inside.names.knowsAllOf(jobs)) return { unnamed: jobs }
  const counts = readyCounts()
  const served = await serve(inside, accepted, counts)
  for (const { schedule: name, at, outcome, id } of served.values()) {
    const schedule = stepped.get(name)
    if (schedule !== undefined)
      stepped.set(name, { ...schedule, lastAt: at, lastOutcome: outcome, lastJob: id })
  }
  await saveRows(inside, [...stepped.values()])
  return { ticked: items.map((item, n) => tickedOf(item, verdicts[n] === true, served)), counts }
}

/**
 * Applies the items in order: returns which are accepted and the resulting schedules, without the served
 * jobs.
 */
function step(
  items: readonly Tick[],
  byName: ReadonlyMap<string, StoredSchedule>,
): { readonly verdicts: boolean[]; readonly stepped: Map<string, StoredSchedule> } {
  const stepped = new Map<string, StoredSchedule>()
  const verdicts = items.map((item) => {
    const schedule = stepped.get(item.schedule) ?? byName.get(item.schedule)
    if (schedule === undefined || !isCurrent(schedule, item)) return false
    const missed = schedule.missed + item.missed
    stepped.set(item.schedule, { ...schedule, planned: true, nextAt: item.nextAt, missed, error: null })
    return true
  })
  return { verdicts, stepped }
}

/** Returns the instants served now, by schedule and instant, in the order of the fires. */
async function serve(
  inside: Context,
  items: readonly Tick[],
  counts: ReadyCounts,
): Promise<Map<string, Served>> {
  const fires = new Map<string, Fire>()
  for (const { schedule, fires: all } of items) {
    for (const { at, job } of all) {
      const key = keyOf(schedule, at)
      if (!fires.has(key)) fires.set(key, { schedule, at, job })
    }
  }
  if (fires.size === 0) return new Map()
  const noted = [...fires.values()].map(({ schedule, at, job }) => ({ schedule, at, job_id: job.id }))
  const rows = await ask<{ schedule: string; at: number }>(inside, NOTE, { ticks: noted })
  const isNew = new Set(rows.map(({ schedule, at }) => keyOf(schedule, at)))
  const due = [...fires].filter(([key]) => isNew.has(key))
  if (due.length === 0) return new Map()
  const jobs = due.map(([, { job }]) => job)
  const replies = await enqueueWith(inside, inside.connection.query, jobs, true, counts)
  const served = due.map(([key, fire], n): [string, Served] => {
    const { id, outcome } = replies[n] ?? { id: fire.job.id, outcome: 'enqueued' }
    return [key, { ...fire, id, outcome: outcome === 'duplicate' ? 'skipped' : 'enqueued' }]
  })
  const skipped = served.flatMap(([, { schedule, at, id, outcome }]) =>
    outcome === 'skipped' ? { schedule, at, job_id: id } : [],
  )
  if (skipped.length > 0) await ask(inside, SKIPPED, { ticks: skipped })
  return new Map(served)
}

/** Removes each instant that it returns, so that a duplicate is attributed to the first tick. */
function tickedOf({ schedule, fires }: Tick, accepted: boolean, served: Map<string, Served>): Ticked {
  if (!accepted) return { schedule, accepted, fired: [] }
  const fired = fires.flatMap(({ at }) => {
    const one = served.get(keyOf(schedule, at))
    served.delete(keyOf(schedule, at))
    return one === undefined ? [] : [{ at, outcome: one.outcome, job: one.id }]
  })
  return { schedule, accepted, fired }
}

function keyOf(schedule: string, at: number): string {
  return `${schedule} ${at}`
}

export function ticks(context: Context, schedule: string, limit: number): Promise<TickRecord[]> {
  return askWith(context, TICKS, [schedule, limit])
}
