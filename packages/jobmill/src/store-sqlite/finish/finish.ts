/**
 * Ends attempts, and stores their progress. The fence is the pair of state and token: a job that is not
 * running under this token is not touched, and nothing else of the item is written.
 */
import { isEnded, STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { CoolDown, Finish, Finished, Progress, Transition } from '../../store/types/finish.ts'
import { holdKey } from '../enqueue/dedupe.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { leaveOrder, makeDue } from '../enqueue/order-queue.ts'
import {
  CANCELLED,
  DONE,
  findJob,
  findJobs,
  IS_CHILD,
  type JobRow,
  READY,
  RUNNING,
  SCHEDULED,
} from '../job-row.ts'
import { leaveGroup } from '../groups/turns.ts'
import { freeHolder } from '../limits/permits.ts'
import { cancelChildren } from '../operate/actions.ts'
import { childEnded } from '../steps/child-ends.ts'
import { parkedUntil } from '../steps/steps.ts'
import type { Work } from '../work.ts'
import { type Ending, finishedBefore, instanceId, recordAttempts, type RecordedAttempt } from './attempts.ts'
import { finishAlike, LONGEST_RESULT } from './finish-alike.ts'
import { type Counters, endJob, forgetJob, leave, putBack, refundAttempt } from './leave-running.ts'

// Uses the primary key, after the fence was checked under the same write lock.
const LATER = `UPDATE jobmill_job SET state = 0, due_at = ?, attempt = ?, records = ?, log = NULL WHERE pk = ?`

/** State shared by the items of one call. */
interface Call {
  readonly work: Work
  /** The queues whose backoff this call has already advanced. */
  readonly curved: Set<number>
  /** Primary key → id of instances: nearly always one for the whole call. */
  readonly instances: Map<number | null, string | null>
  /** Rows to write at the end of the call, or before a job of the call is read again. */
  readonly attempts: RecordedAttempt[]
  readonly done: DoneJob[]
}

export function finish(work: Work, items: readonly Finish[]): Finished[] {
  const replies = finishAlike(work, items)
  const others = items.filter((_, at) => replies[at] === undefined)
  const rest = (others.length === 0 ? [] : finishEach(work, others)).values()
  return replies.map((reply) => reply ?? (rest.next().value as Finished))
}

/** Thrown to roll back a rehearsal. Other operations of the same transaction are retried without it. */
export class Rehearsed extends Error {
  override readonly name = 'Rehearsed'
  readonly replies: Finished[]

  constructor(replies: Finished[]) {
    super('the finish was rehearsed')
    this.replies = replies
  }
}

/** Writes everything that the commit would write, and then throws. */
export function rehearse(work: Work, items: readonly Finish[]): never {
  const replies = finish(work, items)
  work.counters.write()
  work.moves.write(work.sql)
  throw new Rehearsed(replies)
}

function finishEach(work: Work, items: readonly Finish[]): Finished[] {
  const call: Call = { work, curved: new Set(), instances: new Map(), attempts: [], done: [] }
  const rows = findJobs(
    work.sql,
    items.map(({ id }) => id),
  )
  const replies = items.map((item) => {
    const job = rows.get(item.id) ?? findAgain(call, item.id)
    // A second item for the same job must see the effect of the first.
    rows.delete(item.id)
    const current = job !== undefined && job.state === RUNNING && job.token === item.token
    const reply = current ? accepted(call, item, job) : notCurrent(work, item, job)
    // Its children may have been asked to stop.
    if (reply.state === 'cancelled') rows.clear()
    return reply
  })
  writeOut(call)
  return replies
}

function findAgain(call: Call, id: string): JobRow | undefined {
  writeOut(call)
  return findJob(call.work.sql, id)
}

function writeOut({ work, attempts, done }: Call): void {
  recordAttempts(work.sql, attempts.splice(0))
  endDone(work, done.splice(0))
}

function accepted(call: Call, item: Finish, job: JobRow): Finished {
  const { work, curved } = call
  const transition = resolved(work, job, item.transition)
  // Only `done` takes precedence over a requested cancel, because the work is complete.
  const cancelReason = transition.to === 'done' ? null : job.cancel_reason
  const to = cancelReason === null ? target(transition) : CANCELLED
  const recorded = forgets(transition) ? 0 : record(call, item, job, to, cancelReason)
  const attempt = attemptAfter(item.transition, job.attempt)
  const error = cancelReason ?? item.error ?? null
  // Its parent, which may have been parked by the same call, is read again.
  if ((job.flags & IS_CHILD) !== 0) writeOut(call)
  move(call, job, transition, to, { attempt, crashes: job.crashes, records: job.records + recorded, error })
  if (to === CANCELLED) cancelChildren(work, job)
  if (item.cool !== undefined) coolQueue(work, job.queue_id, item.cool, curved)
  const followUps = to === target(transition) ? enqueue(work, item.followUps ?? []) : []
  return { id: item.id, accepted: true, state: stateOfCode(to), followUps }
}

/** A wait counts as a recorded step, so attempts are counted from there. */
function attemptAfter(transition: Transition, attempt: number): number {
  if (transition.to === 'parked') return 0
  return refunds(transition) ? refundAttempt(attempt) : attempt
}

/** When a parked job must run again is known only under the write lock. */
function resolved(work: Work, job: JobRow, transition: Transition): Transition {
  if (transition.to !== 'parked') return transition
  return { to: 'scheduled', delayMs: parkedUntil(work, job) - work.now, refund: true }
}

/** A retried finish, or a stale one. A missing job with `forget` was finished before. */
function notCurrent(work: Work, item: Finish, job: JobRow | undefined): Finished {
  const { sql } = work
  // If its row was deleted with SQL, nothing else releases its permits.
  if (job === undefined) freeHolder(work, item.id)
  if (job === undefined && forgets(item.transition))
    return { id: item.id, accepted: true, state: 'done', followUps: [] }
  const wentTo = job === undefined ? null : finishedBefore(sql, job.pk, item.token)
  if (wentTo === null) return { id: item.id, accepted: false, state: null, followUps: [] }
  return { id: item.id, accepted: true, state: stateOfCode(wentTo), followUps: [], again: true }
}

function target(transition: Transition): number {
  if (transition.to === 'parked') return SCHEDULED
  if (transition.to === 'scheduled') return transition.delayMs > 0 ? SCHEDULED : READY
  return STATE_CODE[transition.to]
}

function refunds(transition: Transition): boolean {
  if (transition.to === 'ready') return true
  return (transition.to === 'scheduled' || transition.to === 'dead') && transition.refund === true
}

function forgets(transition: Transition): boolean {
  return transition.to === 'done' && transition.forget === true
}

function move(
  call: Call,
  job: JobRow,
  transition: Transition,
  to: number,
  counters: Counters & { readonly error: string | null },
): void {
  const { work } = call
  if (transition.to === 'done' && transition.forget === true)
    forgetJob(work, job, { result: transition.result, error: counters.error })
  else if (transition.to === 'done') {
    call.done.push({ pk: job.pk, result: transition.result, records: counters.records })
    leave(work, job, DONE)
    holdKey(work.sql, job, DONE, work.now)
    leaveOrder(work, job)
    childEnded(work, job, DONE, { result: transition.result, error: counters.error })
  } else if (isEnded(stateOfCode(to))) endJob(work, job, to, counters)
  else if (transition.to === 'ready') putBack(work, job, counters)
  else if (transition.to === 'scheduled') scheduleRetry(work, job, transition.delayMs, counters)
}

/** Another attempt, which keeps the order lock of the job. While it waits, its group may use its slot. */
function scheduleRetry(work: Work, job: JobRow, delayMs: number, { attempt, records }: Counters): void {
  work.sql(LATER).run(work.now + delayMs, attempt, records, job.pk)
  leave(work, job, SCHEDULED)
  if (delayMs === 0) makeDue(work, { ...job, state: SCHEDULED }, work.now)
  else leaveGroup(work, job)
}

/** Records the attempt, with its number before any refund; returns the number of rows. */
function record(call: Call, item: Finish, job: JobRow, to: number, cancelReason: string | null): 0 | 1 {
  const forced = cancelReason !== null
  const outcome = forced ? 'cancelled' : item.outcome
  if (outcome === null) return 0
  const { now } = call.work
  const claimedAt = job.started_at ?? now
  const ending: Ending = {
    token: item.token,
    outcome,
    startedAt: item.ranMs === undefined ? claimedAt : Math.max(claimedAt, now - Math.round(item.ranMs)),
    endedAt: now,
    wentTo: to,
    instance: instanceOf(call, job.instance_pk),
    error: forced ? cancelReason : (item.error ?? null),
    log: item.log ?? job.log,
  }
  call.attempts.push({ job, ending })
  return 1
}

function instanceOf({ work, instances }: Call, pk: number | null): string | null {
  const known = instances.get(pk)
  if (known !== undefined) return known
  const id = instanceId(work.sql, pk)
  instances.set(pk, id)
  return id
}

// Both use the primary key, under the write lock, so the second of two concurrent throttles sees the first.
const LOOK = `SELECT cool_until, throttles FROM jobmill_queue WHERE id = ?`
const COOL = `UPDATE jobmill_queue SET cool_until = ?, throttles = ? WHERE id = ?`

/**
 * `curved` holds the queues whose backoff this call has already advanced: several throttled jobs of one call
 * count once.
 */
function coolQueue({ sql, now }: Work, queueId: number, cool: CoolDown, curved: Set<number>): void {
  const { cool_until: until, throttles } = sql(LOOK).get(queueId) as { cool_until: number; throttles: number }
  if ('forMs' in cool) {
    if (now + cool.forMs > until) sql(COOL).run(now + cool.forMs, throttles, queueId)
    return
  }
  if (curved.has(queueId)) return
  curved.add(queueId)
  // Workers that were still running when the upstream refused report the same event.
  if (until > now) return
  // The quiet period starts when the cool-down ends, because throttles during the cool-down are not counted.
  const events = now - until >= cool.quietMs ? 0 : throttles
  sql(COOL).run(now + Math.min(cool.maxMs, cool.baseMs * 2 ** events), events + 1, queueId)
}

// Both use the primary key, after the fence was checked under the same write lock. The log was moved to the
// attempt.
const END_ONE = `UPDATE jobmill_job SET state = 3, ended_at = ?, result = ?, records = ?, log = NULL WHERE pk = ?`
const END_ALL = `
  UPDATE jobmill_job SET state = 3, ended_at = ?, result = one.result, records = one.records, log = NULL
  FROM (SELECT value ->> 0 AS pk, value ->> 1 AS result, value ->> 2 AS records FROM json_each(?)) AS one
  WHERE jobmill_job.pk = one.pk`

interface DoneJob {
  readonly pk: number
  readonly result: string | null
  readonly records: number
}

function endDone({ sql, now }: Work, jobs: readonly DoneJob[]): void {
  const small = jobs.filter(({ result }) => (result?.length ?? 0) <= LONGEST_RESULT)
  const large = jobs.filter(({ result }) => (result?.length ?? 0) > LONGEST_RESULT)
  if (small.length > 0) {
    sql(END_ALL).run(now, JSON.stringify(small.map(({ pk, result, records }) => [pk, result, records])))
  }
  for (const { pk, result, records } of large) sql(END_ONE).run(now, result, records, pk)
}

// Uses jobmill_job_id; state and token are the fence. Omitted values do not change.
const NOTE = `
  UPDATE jobmill_job SET progress = coalesce(?, progress), log = coalesce(?, log) WHERE id = ? AND state = 2 AND token = ?`

export function progress({ sql, leases }: Work, items: readonly Progress[]): boolean[] {
  return items.map(({ id, token, value = null, log = null }) => {
    if (log !== null) leases.drop(id)
    return Number(sql(NOTE).run(value, log, id, token).changes) === 1
  })
}
