/** finish and progress: what an attempt may write while it holds its lease. */
import {
  coolDown,
  type CoolDown,
  endingOf,
  type Finish,
  type Finished,
  type Progress,
  recordAttempt,
  refund,
  type RunRow,
  staleReply,
  stateAfter,
  type Transition,
  writeProgress,
} from 'jobmill/store'
import { enqueue } from './enqueue.ts'
import { end, makeReady, putBack, schedule } from './moves.ts'
import { wasCancelled } from './operate.ts'
import { parkedUntil } from './steps.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function finish(state: OracleState, items: readonly Finish[]): Finished[] {
  const curved = new Set<object>()
  return items.map((item) => {
    const job = state.jobs.get(item.id)
    if (job?.run?.token === item.token) return finishOne(state, item, job, job.run, curved)
    return staleReply(item, job)
  })
}

function finishOne(
  state: OracleState,
  item: Finish,
  job: OracleJob,
  run: RunRow,
  curved: Set<object>,
): Finished {
  const transition = resolved(state, job, item.transition)
  const ending = endingOf({ ...item, transition }, run)
  const { wentTo, error } = ending
  const asAsked = wentTo === stateAfter(transition)
  recordAttempt(job, run, ending, state.now)
  if (item.transition.to === 'parked') job.attempt = 0
  else if (refunds(transition)) refund(job)
  if (asAsked) move(state, job, transition, error)
  else end(state, job, 'cancelled', error)
  if (wentTo === 'cancelled') wasCancelled(state, job, error ?? '')
  // Its dedupe key may outlive the job.
  if (forgets(transition)) state.jobs.delete(job.id)
  if (item.cool !== undefined) coolQueue(state, job.queue, item.cool, curved)
  const followUps = asAsked ? enqueue(state, item.followUps ?? []) : []
  return { id: job.id, accepted: true, state: wentTo, followUps }
}

/** How long a parked job waits is known only here. */
function resolved(state: OracleState, job: OracleJob, transition: Transition): Resolved {
  if (transition.to !== 'parked') return transition
  return { to: 'scheduled', delayMs: parkedUntil(state, job) - state.now, refund: true }
}

type Resolved = Exclude<Transition, { readonly to: 'parked' }>

function forgets(transition: Transition): boolean {
  return transition.to === 'done' && transition.forget === true
}

function refunds(transition: Resolved): boolean {
  if (transition.to === 'ready') return true
  return (transition.to === 'scheduled' || transition.to === 'dead') && transition.refund === true
}

function move(state: OracleState, job: OracleJob, transition: Resolved, error: string | null): void {
  if (transition.to === 'ready') putBack(state, job)
  else if (transition.to !== 'scheduled') {
    if (transition.to === 'done') job.result = transition.result
    end(state, job, transition.to, error)
  } else if (transition.delayMs === 0) makeReady(state, job)
  else schedule(state, job, state.now + transition.delayMs)
}

function coolQueue(state: OracleState, name: string, how: CoolDown, curved: Set<object>): void {
  const queue = state.queues.get(name)
  if (queue !== undefined) coolDown(queue, how, curved, state.now)
}

export function progress(state: OracleState, items: readonly Progress[]): boolean[] {
  return items.map((item) => writeProgress(state.jobs.get(item.id), item))
}
