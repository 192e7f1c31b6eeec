/**
 * stage: makes due jobs ready or adds them to their order queue, wakes parents whose last child has ended,
 * then makes the first job of each free order queue ready.
 */
import { NEVER_DUE, type Staged } from 'jobmill/store'
import { becomeDue } from './enqueue.ts'
import { groupsInMs, promotable, promote } from './groups.ts'
import { heads, isInLine, takeOrderLock } from './order-key.ts'
import { hasArrived, isParked } from './steps.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function stage(state: OracleState, limit: number): Staged {
  const due = waitingForTheirTime(state)
    .filter((job) => job.dueAt <= state.now)
    .toSorted((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
  for (const job of due) becomeDue(state, job)

  const woken = waitingForTheirTime(state).filter((job) => isParked(state, job) && hasArrived(job))
  for (const job of woken) becomeDue(state, job)

  const next = heads(state).slice(0, limit)
  for (const job of next) {
    takeOrderLock(state, job)
    becomeDue(state, job)
  }

  const promoted = promotable(state).slice(0, limit)
  for (const job of promoted) promote(state, job)

  // A set, because a job that joined its order queue in this pass can be in both lists.
  const ready = new Set([...due, ...woken, ...next, ...promoted].filter((job) => job.state === 'ready'))
  return {
    ready: ready.size,
    more: [due, next, promoted].some(({ length }) => length === limit),
    queues: [...new Set([...ready].map((job) => job.queue))].toSorted(),
  }
}

/** When `stage` has something to do: 0 for now, null if no job waits for it. */
export function stageInMs(state: OracleState): number | null {
  if (heads(state).length > 0) return 0
  const groups = groupsInMs(state)
  const dueAts = waitingForTheirTime(state)
    .map((job) => job.dueAt)
    .filter((dueAt) => dueAt < NEVER_DUE)
  const times = [
    ...dueAts.map((dueAt) => Math.max(0, dueAt - state.now)),
    ...(groups === null ? [] : [groups]),
  ]
  return times.length === 0 ? null : Math.min(...times)
}

function waitingForTheirTime(state: OracleState): OracleJob[] {
  return [...state.jobs.values()].filter((job) => job.state === 'scheduled' && !isInLine(state, job))
}
