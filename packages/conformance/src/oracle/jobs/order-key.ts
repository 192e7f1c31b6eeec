/** Order keys: the order queue of each key, and which job holds the order lock. */
import type { OracleJob, OracleState } from '../state.ts'
import { isInGroup } from './group-line.ts'

// Queue names have no spaces, so two pairs of queue and order key never give the same string.
function orderQueueOf(job: OracleJob): string {
  return `${job.queue} ${job.orderKey}`
}

export function isInOrderQueue(state: OracleState, job: OracleJob): boolean {
  return state.orderQueue.includes(job.id)
}

/** Whether a due job waits for its order lock or for its group. */
export function isInLine(state: OracleState, job: OracleJob): boolean {
  return isInOrderQueue(state, job) || isInGroup(state, job)
}

function hasOrderLock(state: OracleState, job: OracleJob): boolean {
  return state.orderLocks.get(orderQueueOf(job)) === job.id
}

/** Whether a due job must wait in the order queue before it can be ready. */
export function needsOrderLock(state: OracleState, job: OracleJob): boolean {
  return job.orderKey !== null && !hasOrderLock(state, job)
}

export function joinOrderQueue(state: OracleState, job: OracleJob): void {
  state.orderQueue.push(job.id)
}

/** Moves a job to the front, behind the jobs that were moved there before it. */
export function goFirst(state: OracleState, job: OracleJob): void {
  leaveOrderQueue(state, job)
  state.orderQueue.splice(state.firsts.size, 0, job.id)
  state.firsts.add(job.id)
}

export function leaveOrderQueue(state: OracleState, job: OracleJob): void {
  state.orderQueue = state.orderQueue.filter((id) => id !== job.id)
  state.firsts.delete(job.id)
}

export function takeOrderLock(state: OracleState, job: OracleJob): void {
  leaveOrderQueue(state, job)
  state.orderLocks.set(orderQueueOf(job), job.id)
}

export function freeOrderLock(state: OracleState, job: OracleJob): void {
  if (hasOrderLock(state, job)) state.orderLocks.delete(orderQueueOf(job))
}

/** The job that holds the lock a job waits for, or that gets it next while it is free. */
export function blocker(state: OracleState, id: string): string | null {
  const job = state.jobs.get(id)
  if (job === undefined || !isInOrderQueue(state, job)) return null
  const isAlike = (one: string): boolean => {
    const other = state.jobs.get(one)
    return other !== undefined && orderQueueOf(other) === orderQueueOf(job)
  }
  const first = state.orderLocks.get(orderQueueOf(job)) ?? state.orderQueue.find(isAlike)
  return first === undefined || first === id ? null : first
}

/** The first job of every order queue whose lock is free, by time of joining. */
export function heads(state: OracleState): OracleJob[] {
  const keys = new Set(state.orderLocks.keys())
  return state.orderQueue.flatMap((id) => {
    const job = state.jobs.get(id)
    if (job === undefined || keys.has(orderQueueOf(job))) return []
    keys.add(orderQueueOf(job))
    return [job]
  })
}
