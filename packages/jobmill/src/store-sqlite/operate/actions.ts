/**
 * What operators do to jobs: cancel, retry, run now and delete. Each action answers per id, in the order of
 * the ids; a duplicated id is handled twice.
 */
import { isHeldUntilEnd } from '../../job/enqueue/new-job.ts'
import { stateOfCode } from '../../job/state.ts'
import type { NewPayload } from '../../store/types/new-payload.ts'
import { CHILD_DELETED, PARENT_CANCELLED } from '../../store/types/step.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { freeKey, keyHolder, takeKey } from '../enqueue/dedupe.ts'
import { leaveOrder, makeDue } from '../enqueue/order-queue.ts'
import { replaceEntries } from '../enqueue/tags.ts'
import { recordAttempt } from '../finish/attempts.ts'
import { endJob, removeJob } from '../finish/leave-running.ts'
import { childEnded, childReopened, openChildren } from '../steps/child-ends.ts'
import { CANCELLED, DEAD, findJob, type JobRow, READY, RUNNING, SCHEDULED } from '../job-row.ts'
import type { Work } from '../work.ts'

// Uses the primary key, after the row was read under the same write lock.
const ASK = `UPDATE jobmill_job SET cancel_reason = ? WHERE pk = ?`
const RENEW = `UPDATE jobmill_job SET attempt = 0, crashes = 0, ended_at = NULL, due_at = ? WHERE pk = ?`
const ENDED_AT = `SELECT ended_at FROM jobmill_job WHERE pk = ?`
const PAYLOAD = `UPDATE jobmill_job SET payload = ? WHERE pk = ?`

type Did = Omit<Verdict, 'id'>

/** The job keeps its state. */
function left(verdict: 'unchanged' | 'refused', job: JobRow): Did {
  return { verdict, state: stateOfCode(job.state) }
}

function forEachJob(work: Work, ids: readonly string[], act: (job: JobRow, at: number) => Did): Verdict[] {
  return ids.map((id, at) => {
    const job = findJob(work.sql, id)
    return job === undefined ? { id, verdict: 'unknown', state: null } : { id, ...act(job, at) }
  })
}

/** The instance of a running job sees the request in its heartbeat. */
export function cancel(work: Work, ids: readonly string[], reason: string): Verdict[] {
  return forEachJob(work, ids, (job) => {
    const did = cancelOne(work, job, reason)
    if (isCancelled(did)) cancelChildren(work, job)
    return did
  })
}

const isCancelled = ({ verdict, state }: Did): boolean => verdict === 'changed' && state === 'cancelled'

function cancelOne(work: Work, job: JobRow, reason: string): Did {
  if (job.state === SCHEDULED || job.state === READY) return cancelWaiting(work, job, reason)
  if (job.state === RUNNING) return ask(work, job, reason)
  return job.state === CANCELLED ? left('unchanged', job) : left('refused', job)
}

/**
 * Cancels the children of a cancelled job. A loop, because a chain of children may be deeper than the stack.
 */
export function cancelChildren(work: Work, job: JobRow): void {
  const parents = [job]
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const id of openChildren(work.sql, parent)) {
      const child = findJob(work.sql, id)
      if (child !== undefined && isCancelled(cancelOne(work, child, PARENT_CANCELLED))) parents.push(child)
    }
  }
}

function cancelWaiting(work: Work, job: JobRow, reason: string): Did {
  recordAttempt(work.sql, job, {
    // No lease has this token; it only keeps the history in order.
    token: work.counters.takeToken(work.now),
    outcome: 'cancelled',
    startedAt: null,
    endedAt: work.now,
    wentTo: null,
    instance: null,
    error: reason,
    log: null,
  })
  const { attempt, crashes, records } = job
  endJob(work, job, CANCELLED, { attempt, crashes, records: records + 1, error: reason })
  return { verdict: 'changed', state: 'cancelled' }
}

function ask({ sql }: Work, job: JobRow, reason: string): Did {
  if (job.cancel_reason !== null) return left('unchanged', job)
  sql(ASK).run(reason, job.pk)
  return { verdict: 'changed', state: 'running' }
}

/** Makes jobs ready again as if they were new, but keeps their history. */
export function retry(work: Work, ids: readonly string[], payloads?: readonly NewPayload[]): Verdict[] {
  return forEachJob(work, ids, (job, at) => {
    if (job.state !== DEAD && job.state !== CANCELLED) return left('refused', job)
    const change = payloads?.[at]
    return change === undefined ? revive(work, job) : reviveWith(work, job, change)
  })
}

function reviveWith(work: Work, job: JobRow, { payload, entries, endedAt }: NewPayload): Did {
  const row = work.sql(ENDED_AT).get(job.pk) as { readonly ended_at: number | null }
  if (row.ended_at !== endedAt) return left('refused', job)
  const did = revive(work, job)
  if (did.verdict !== 'changed') return did
  work.sql(PAYLOAD).run(payload, job.pk)
  replaceEntries(work.sql, job, entries)
  return did
}

export function revive(work: Work, job: JobRow): Did {
  if (job.dedupe_key !== null && isHeldUntilEnd(job.hold_after)) {
    const holder = keyHolder(work.sql, job.dedupe_key, work.now)
    // The job itself may hold the key, if it stays held after every end.
    if (holder !== undefined && holder !== job.id) return { ...left('refused', job), holder }
    takeKey(work.sql, job.dedupe_key, job.id)
  }
  work.sql(RENEW).run(work.now, job.pk)
  childReopened(work, job)
  return dueNow(work, job)
}

function dueNow(work: Work, job: JobRow): Did {
  return { verdict: 'changed', state: makeDue(work, job, work.now) ? 'ready' : 'scheduled' }
}

/** Makes scheduled jobs due now. */
export function runNow(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === READY || job.in_order_queue !== 0) return left('unchanged', job)
    return job.state === SCHEDULED ? dueNow(work, job) : left('refused', job)
  })
}

/** Refuses running jobs, because their attempt could no longer be fenced. */
export function deleteJobs(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === RUNNING) return left('refused', job)
    removeJob(work, job)
    // The dedupe hold of an ended job outlives the job.
    if (job.state === SCHEDULED || job.state === READY) {
      freeKey(work.sql, job)
      leaveOrder(work, job)
      childEnded(work, job, CANCELLED, { error: CHILD_DELETED })
    }
    return { verdict: 'changed', state: null }
  })
}
