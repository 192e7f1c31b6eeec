/**
 * A job as one row, and what its attempts change in that row. For stores whose database cannot express these
 * rules: they read a row, call a function, and write the row, all in one transaction.
 */
import { crashError, KEY_TAKEN, NO_CRASH, STOOD_STILL } from '../../job/attempt/crash.ts'
import type { Outcome } from '../../job/attempt/outcome.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { parseKind } from '../../job/kind/kind-name.ts'
import type { JobState } from '../../job/state.ts'
import type { Lease } from '../types/claim.ts'
import type { Finish, Finished, Progress, Transition } from '../types/finish.ts'
import type { AttemptRecord } from '../types/job-record.ts'
import type { ReapedJob, Verdict } from '../types/replies.ts'

export interface JobRow extends Omit<NewJob, 'kind' | 'payload' | 'tags' | 'dueAt' | 'delayMs' | 'first'> {
  /** With the version that its first step recorded, as `storedKind` writes it. */
  kind: string
  payload: string
  tags: readonly string[]
  state: JobState
  enqueuedAt: number
  /** Valid while it is scheduled. */
  dueAt: number
  /** `seq` and `readyAt` are valid while the job is ready or running. */
  seq: number
  readyAt: number
  attempt: number
  crashes: number
  /** Null unless it is running. */
  run: RunRow | null
  result: string | null
  endedAt: number | null
  /** The ended attempts, oldest first. */
  attempts: readonly AttemptRow[]
}

export interface RunRow {
  readonly token: number
  readonly instance: string
  readonly startedAt: number
  cancelReason: string | null
  progress: string | null
  log: string | null
}

export interface AttemptRow extends Omit<AttemptRecord, 'version'> {
  /** The state after the finish that recorded this attempt. Null if something else ended the attempt. */
  readonly wentTo: JobState | null
}

/** A new row, still scheduled. `dueAt` says whether it is due. */
export function newJobRow({ dueAt, delayMs, first: _, ...job }: NewJob, now: number): JobRow {
  const times = { enqueuedAt: now, dueAt: dueAt ?? now + delayMs, seq: 0, readyAt: 0, endedAt: null }
  return {
    ...job,
    ...times,
    state: 'scheduled',
    attempt: 0,
    crashes: 0,
    run: null,
    result: null,
    attempts: [],
  }
}

/** Makes the job running, and returns its lease. */
export function startRun(row: JobRow, token: number, instance: string, now: number): Lease {
  row.state = 'running'
  row.attempt += 1
  row.run = { token, instance, startedAt: now, cancelReason: null, progress: null, log: null }
  const { id, queue, priority, attempt, maxAttempts, crashes, payload, timeoutMs, tags, metadata } = row
  const lease = { id, token, kind: parseKind(row.kind).kind, queue, priority, attempt, maxAttempts, crashes }
  const { orderKey, group, enqueuedAt, readyAt } = row
  const rest = { payload, timeoutMs, tags, metadata, orderKey, group, enqueuedAt, readyAt }
  return { ...lease, ...rest, waitedMs: now - readyAt }
}

export interface Ending {
  /** Null if the handler never started. */
  readonly outcome: Outcome | null
  readonly error: string | null
  readonly wentTo: AttemptRow['wentTo']
  readonly ranMs?: number | undefined
  /** Default: the log that was written while the attempt was running. */
  readonly log?: string | undefined
}

/** How a finish ends the attempt: a requested cancel overrules everything except `done`. */
export function endingOf({ transition, outcome, error, ranMs, log }: Finish, run: RunRow): Ending {
  const { cancelReason } = run
  if (transition.to !== 'done' && cancelReason !== null)
    return { outcome: 'cancelled', error: cancelReason, wentTo: 'cancelled', ranMs, log }
  return { outcome, error: error ?? null, wentTo: stateAfter(transition), ranMs, log }
}

/** The reply to a finish whose token is not current. Accepted if it repeats a finish that was written. */
export function staleReply({ id, token, transition }: Finish, row: JobRow | undefined): Finished {
  if (row === undefined && transition.to === 'done' && transition.forget === true)
    return { id, accepted: true, state: 'done', followUps: [] }
  // A lease that was taken away stays stale.
  const state = row?.attempts.find((attempt) => attempt.token === token)?.wentTo ?? null
  if (state === null) return { id, accepted: false, state, followUps: [] }
  return { id, accepted: true, state, followUps: [], again: true }
}

/** Without the part `steps`, no attempt is parked. */
export function stateAfter(transition: Transition): JobState {
  if (transition.to === 'parked') return 'ready'
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

/**
 * Records the attempt of `run`, or with null a job that ended while it waited. Call it before a refund. An
 * attempt without an outcome leaves no record.
 */
export function recordAttempt(row: JobRow, run: RunRow | null, ending: Ending, now: number): void {
  const { ranMs, log, outcome, ...how } = ending
  if (outcome === null) return
  const attempt: AttemptRow = {
    ...how,
    outcome,
    attempt: row.attempt,
    token: run?.token ?? 0,
    instance: run?.instance ?? null,
    startedAt: run && Math.max(run.startedAt, ranMs === undefined ? 0 : now - ranMs),
    endedAt: now,
    log: log ?? run?.log ?? null,
  }
  row.attempts = [...row.attempts, attempt].slice(-DEFAULTS.historyPerJob)
}

export function refund(row: JobRow): void {
  row.attempt = Math.max(0, row.attempt - 1)
}

/** Stores progress and log of the run that has the token. Returns false if the token is stale. */
export function writeProgress(row: JobRow | undefined, { token, value, log }: Progress): boolean {
  const run = row?.run
  if (run?.token !== token) return false
  run.progress = value ?? run.progress
  run.log = log ?? run.log
  return true
}

type Did = Omit<Verdict, 'id'>

/** The verdict of a cancel. The store ends the job if its state is `cancelled`, and the verdict `changed`. */
export function cancelRow(row: JobRow, reason: string, now: number): Did {
  if (row.state === 'cancelled') return { verdict: 'unchanged', state: 'cancelled' }
  if (row.state === 'done' || row.state === 'dead') return { verdict: 'refused', state: row.state }
  if (row.run === null) {
    recordAttempt(row, null, { outcome: 'cancelled', error: reason, wentTo: null }, now)
    return { verdict: 'changed', state: 'cancelled' }
  }
  if (row.run.cancelReason !== null) return { verdict: 'unchanged', state: 'running' }
  row.run.cancelReason = reason
  return { verdict: 'changed', state: 'running' }
}

/** The instance of a running job stopped. Returns where the job goes. */
export function returnRun(row: JobRow, run: RunRow, now: number): 'ready' | 'cancelled' {
  const { cancelReason: error } = run
  // A job that ends needs a record of its outcome.
  if (error !== null) recordAttempt(row, run, { outcome: 'cancelled', error, wentTo: null }, now)
  refund(row)
  return error === null ? 'ready' : 'cancelled'
}

/** The instance of a running job was lost. Returns where the job goes. */
export function crashRun(
  row: JobRow,
  run: RunRow,
  crashesUntilDead: number,
  now: number,
): ReapedJob & { readonly error: string } {
  row.crashes += 1
  const { id, queue, crashes } = row
  const { kind } = parseKind(row.kind)
  const error = run.cancelReason ?? crashError(crashes)
  recordAttempt(row, run, { outcome: 'interrupted', error, wentTo: null }, now)
  refund(row)
  const state = run.cancelReason !== null ? 'cancelled' : crashes >= crashesUntilDead ? 'dead' : 'ready'
  return { id, queue, kind, crashes, state, error }
}

/**
 * Reverts a crash, because the process of the instance is alive after all. `revive` retries a job that the
 * crash made dead, and returns false if another job has its dedupe key.
 */
export function revertCrash(row: JobRow, token: number, stoodStill: boolean, revive: () => boolean): void {
  if (stoodStill) return changeError(row, token, (error) => `${error}${STOOD_STILL}`)
  const last = row.attempts.at(-1)
  const diedOfCrash = row.state === 'dead' && last?.outcome === 'interrupted' && last.wentTo === null
  row.crashes = Math.max(0, row.crashes - 1)
  changeError(row, token, () => NO_CRASH)
  if (!diedOfCrash || revive()) return
  changeError(row, last.token, (error) => `${error.replace(KEY_TAKEN, '')}${KEY_TAKEN}`)
}

function changeError(row: JobRow, token: number, change: (error: string) => string): void {
  row.attempts = row.attempts.map((one) =>
    one.token === token ? { ...one, error: change(one.error ?? '') } : one,
  )
}
