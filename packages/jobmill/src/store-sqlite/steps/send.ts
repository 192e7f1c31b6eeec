/** Stores events for jobs, and makes parked jobs ready that wait for them. */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { isEnded, stateOfCode } from '../../job/state.ts'
import type { EventReply, SentEvent } from '../../store/types/step.ts'
import type { Sql } from '../connection/handle.ts'
import { keyHolder } from '../enqueue/dedupe.ts'
import { makeDue } from '../enqueue/order-queue.ts'
import { findJob, HAS_EVENTS, type JobRow, SCHEDULED } from '../job-row.ts'
import type { Look, Work } from '../work.ts'
import { hasArrived } from './steps.ts'

// Each uses the primary key.
const KNOWN = `SELECT 1 FROM jobmill_job_event WHERE job_pk = ? AND id = ?`
const ADD = `INSERT INTO jobmill_job_event (job_pk, id, place, name, payload, sent_at) VALUES (?, ?, ?, ?, ?, ?)`
const MARK = `UPDATE jobmill_job SET flags = flags | ${HAS_EVENTS} WHERE pk = ?`

// The newest attempt, by primary key.
const LAST = `SELECT outcome FROM jobmill_attempt WHERE job_pk = ? ORDER BY token DESC LIMIT 1`

/** A job that is scheduled for another reason, such as its backoff, does not wait for an event. */
function isParked(sql: Sql, { pk }: JobRow): boolean {
  const last = sql(LAST).get(pk) as { readonly outcome: number } | undefined
  return last?.outcome === outcomeCode('parked')
}

export function sendEvents(work: Work, items: readonly SentEvent[]): EventReply[] {
  return items.map((item) => {
    const job = receiverOf(work, item)
    if (job === undefined) return { id: null, state: null, isStored: false }
    const otherKind = otherKindOf(work, job, item)
    if (otherKind !== undefined)
      return { id: job.id, state: stateOfCode(job.state), isStored: false, otherKind }
    return { id: job.id, ...store(work, job, item) }
  })
}

function receiverOf({ sql, now }: Look, { to }: SentEvent): JobRow | undefined {
  const id = typeof to === 'string' ? to : keyHolder(sql, to.dedupeKey, now)
  return id === undefined ? undefined : findJob(sql, id)
}

function otherKindOf({ names }: Look, { kind_id: id }: JobRow, { kind }: SentEvent): string | undefined {
  if (kind === undefined) return undefined
  const own = names.kindName(id)
  return own === kind ? undefined : own
}

/** Makes a parked job ready if its event has arrived, or the last child of a step has ended. */
export function wakeIfArrived(work: Work, id: string): boolean {
  const job = findJob(work.sql, id)
  if (job === undefined || job.state !== SCHEDULED || job.in_order_queue !== 0) return false
  if (!isParked(work.sql, job) || !hasArrived(work.sql, job)) return false
  return makeDue(work, job, work.now)
}

function store(work: Work, job: JobRow, { eventId, name, payload }: SentEvent): Omit<EventReply, 'id'> {
  const { sql, now, counters, leases } = work
  const state = stateOfCode(job.state)
  if (sql(KNOWN).get(job.pk, eventId) !== undefined) return { state, isStored: true }
  if (isEnded(state)) return { state, isStored: false }
  sql(ADD).run(job.pk, eventId, counters.take('event'), name, payload, now)
  // With this flag, the events are deleted together with the job.
  if ((job.flags & HAS_EVENTS) === 0) {
    leases.drop(job.id)
    sql(MARK).run(job.pk)
  }
  const isWoken = wakeIfArrived(work, job.id)
  return { state: isWoken ? 'ready' : state, isStored: true }
}
