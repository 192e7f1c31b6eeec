/**
 * Records steps and waits of running attempts. State and token are the fence, as for a finish. Each call is
 * one write transaction, so an event and the wait for it cannot miss each other.
 */
import { NEVER_DUE, STEP_KINDS, type StepWait, type StepWrite, type Waited } from '../../store/types/step.ts'
import type { Sql } from '../connection/handle.ts'
import { findJob, HAS_STEPS, type JobRow, RUNNING } from '../job-row.ts'
import type { Work } from '../work.ts'
import { type StepRow, stepRow } from './step-rows.ts'

// Each uses the primary key. A done step never changes.
const WRITE = `
  INSERT INTO jobmill_step (job_pk, name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (job_pk, name) DO UPDATE SET token = excluded.token, ended_at = excluded.ended_at, result = excluded.result,
    checkpoint = coalesce(excluded.checkpoint, checkpoint)
  WHERE ended_at IS NULL`
const MARK = `UPDATE jobmill_job SET flags = flags | ${HAS_STEPS}, attempt = ? WHERE pk = ?`
const KEEP_VERSION = `UPDATE jobmill_job SET kind_id = ? WHERE pk = ?`

/** The job of a running attempt; undefined if its token is stale. */
export function holdingJob({ sql }: Work, id: string, token: number): JobRow | undefined {
  const job = findJob(sql, id)
  return job?.state === RUNNING && job.token === token ? job : undefined
}

/** `resets`: counts the attempts from this step on. */
export function mark({ sql, names, leases }: Work, job: JobRow, { resets, versionedKind }: Mark): void {
  const attempt = resets ? 1 : job.attempt
  const hasSteps = (job.flags & HAS_STEPS) !== 0
  if (hasSteps && job.attempt === attempt) return
  // A finish with a cached lease assumes that the job has no steps.
  leases.drop(job.id)
  sql(MARK).run(attempt, job.pk)
  if (!hasSteps && versionedKind !== undefined) sql(KEEP_VERSION).run(names.needKind(versionedKind), job.pk)
}

interface Mark extends Pick<StepWrite, 'versionedKind'> {
  readonly resets: boolean
}

/** `inTx`: in a user's transaction, which may be rolled back. */
export function recordSteps(work: Work, items: readonly StepWrite[], inTx: boolean): boolean[] {
  const { sql, now } = work
  return items.map((item) => {
    const job = holdingJob(work, item.id, item.token)
    if (job === undefined) return false
    const { name, place, kind, isDone, result, checkpoint, versionedKind } = item
    mark(work, job, { resets: isDone && !inTx, versionedKind })
    const startedAt = now - Math.round(item.ranMs)
    const code = STEP_KINDS.indexOf(kind)
    sql(WRITE).run(
      job.pk,
      name,
      place,
      code,
      item.token,
      startedAt,
      isDone ? now : null,
      null,
      null,
      result,
      checkpoint,
    )
    return true
  })
}

export function waitForSteps(work: Work, items: readonly StepWait[]): Waited[] {
  return items.map((item) => {
    const job = holdingJob(work, item.id, item.token)
    return job === undefined ? REFUSED : waitFor(work, job, item)
  })
}

const REFUSED: Waited = { accepted: false, isDone: false, result: null, dueInMs: null }

function waitFor(work: Work, job: JobRow, item: StepWait): Waited {
  const { sql, now } = work
  const known = stepRow(sql, job.pk, item.name)
  if (known !== undefined && known.ended_at !== null) return done(known.result)
  if (item.forChildren === true) return waitForChildren(work, job, item)
  const dueAt = known === undefined ? dueOf(item, now) : known.due_at
  const event = takeEvent(sql, job.pk, item)
  const isOver = event !== undefined || (dueAt !== null && dueAt <= now)
  const result = event === undefined ? null : eventText(event)
  const { name, place, events, versionedKind } = item
  mark(work, job, { resets: isOver, versionedKind })
  const isSleep = events.length === 0
  const names = isSleep ? null : JSON.stringify(events)
  const code = STEP_KINDS.indexOf(isSleep ? 'sleep' : 'event')
  sql(WRITE).run(job.pk, name, place, code, item.token, now, isOver ? now : null, dueAt, names, result, null)
  return isOver
    ? done(result)
    : { accepted: true, isDone: false, result: null, dueInMs: dueAt === null ? null : dueAt - now }
}

// Uses the primary key. With token 0, the step no longer counts as a wait of the attempt.
const HOLD = `UPDATE jobmill_step SET token = ? WHERE job_pk = ? AND name = ?`

function waitForChildren({ sql }: Work, { pk }: JobRow, { name, token }: StepWait): Waited {
  const isOver = sql(OPEN_CHILD).get(pk, name) === undefined
  sql(HOLD).run(isOver ? 0 : token, pk, name)
  return { accepted: true, isDone: isOver, result: null, dueInMs: null }
}

function done(result: string | null): Waited {
  return { accepted: true, isDone: true, result, dueInMs: null }
}

function dueOf({ waitMs, until }: StepWait, now: number): number | null {
  return waitMs === null ? until : now + waitMs
}

interface EventRow {
  readonly id: string
  readonly name: string
  readonly payload: string
}

// The events of one job, by primary key: at most a few.
const EVENT = `
  SELECT id, name, payload FROM jobmill_job_event
  WHERE job_pk = ? AND step IS NULL AND name IN (SELECT value FROM json_each(?)) ORDER BY place LIMIT 1`
const TAKE = `UPDATE jobmill_job_event SET step = ? WHERE job_pk = ? AND id = ?`

function takeEvent(sql: Sql, jobPk: number, { name, events }: StepWait): EventRow | undefined {
  if (events.length === 0) return undefined
  const event = sql(EVENT).get(jobPk, JSON.stringify(events)) as EventRow | undefined
  if (event !== undefined) sql(TAKE).run(name, jobPk, event.id)
  return event
}

/** The payload is JSON text and is embedded unchanged. */
function eventText({ name, payload }: EventRow): string {
  return `{"event":${JSON.stringify(name)},"payload":${payload}}`
}

// Uses jobmill_child_open.
const openChild = (job: string, step: string): string =>
  `SELECT 1 FROM jobmill_child AS c WHERE c.parent_pk = ${job} AND c.step = ${step} AND c.ended_as IS NULL`
const OPEN_CHILD = `${openChild('?', '?')} LIMIT 1`
// The open waits of the last attempt, by primary key: earlier attempts may have had other waits. Includes
// waits whose time is up, because the handler does not know that yet.
const WAITS = `
  SELECT due_at FROM jobmill_step WHERE job_pk = ? AND token = ? AND ended_at IS NULL AND kind IN (1, 2, 4)`
const HAS_ARRIVED = `
  SELECT 1 FROM jobmill_step AS s WHERE s.job_pk = ? AND s.token = ? AND s.ended_at IS NULL AND (
    s.kind = 4 AND NOT EXISTS (${openChild('s.job_pk', 's.name')})
    OR s.kind = 2 AND EXISTS (
      SELECT 1 FROM jobmill_job_event AS e, json_each(s.events) AS w
      WHERE e.job_pk = s.job_pk AND e.step IS NULL AND e.name = w.value)) LIMIT 1`

/** When a parked job must run again: now, if it has no open wait or one of them is over. */
export function parkedUntil({ sql, now }: Work, job: Pick<JobRow, 'pk' | 'token'>): number {
  const waits = sql(WAITS).all(job.pk, job.token) as Pick<StepRow, 'due_at'>[]
  if (waits.length === 0 || hasArrived(sql, job)) return now
  return Math.max(now, Math.min(...waits.map(({ due_at: dueAt }) => dueAt ?? NEVER_DUE)))
}

/** Whether an event has arrived, or the last child has ended, for an open wait of the job. */
export function hasArrived(sql: Sql, { pk, token }: Pick<JobRow, 'pk' | 'token'>): boolean {
  return sql(HAS_ARRIVED).get(pk, token) !== undefined
}
