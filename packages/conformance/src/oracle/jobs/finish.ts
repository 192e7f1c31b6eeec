/** finish and progress: what an attempt may write while it holds its lease. */
import type { CoolDown, Finish, Finished, JobState, Progress, Transition } from 'jobmill/store'
import { enqueue } from './enqueue.ts'
import { end, makeReady, putBack, record, refund, schedule } from './moves.ts'
import { wasCancelled } from './operate.ts'
import { parkedUntil } from './steps.ts'
import type { OracleJob, OracleState, Run } from '../state.ts'

export function finish(state: OracleState, items: readonly Finish[]): Finished[] {
  const curved = new Set<string>()
  return items.map((item) => {
    const job = state.jobs.get(item.id)
    if (job?.run?.token === item.token) return finishOne(state, item, job, job.run, curved)
    if (job === undefined && forgets(item.transition))
      return { id: item.id, accepted: true, state: 'done', followUps: [] }
    // Only a write of finish can be repeated. A lease that was taken away stays stale.
    const before = job?.attempts.find((attempt) => attempt.token === item.token)?.wentTo ?? null
    if (before === null) return { id: item.id, accepted: false, state: null, followUps: [] }
    return { id: item.id, accepted: true, state: before, followUps: [], again: true }
  })
}

function finishOne(
  state: OracleState,
  item: Finish,
  job: OracleJob,
  run: Run,
  curved: Set<string>,
): Finished {
  const { ranMs, log } = item
  const transition = resolved(state, job, item.transition)
  const forced = transition.to !== 'done' && run.cancelReason !== null
  const outcome = forced ? 'cancelled' : item.outcome
  const error = forced ? run.cancelReason : (item.error ?? null)
  const wentTo = forced ? 'cancelled' : stateAfter(transition)
  if (outcome !== null) record(state, job, run, { outcome, error, ranMs, log, wentTo })
  if (item.transition.to === 'parked') job.attempt = 0
  else if (refunds(transition)) refund(job)
  if (forced) end(state, job, 'cancelled', error)
  else move(state, job, transition, error)
  if (wentTo === 'cancelled') wasCancelled(state, job, error ?? '')
  // Its dedupe key may outlive the job.
  if (forgets(transition)) state.jobs.delete(job.id)
  if (item.cool !== undefined) cool(state, job.queue, item.cool, curved)
  const asAsked = wentTo === stateAfter(transition)
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

function stateAfter(transition: Resolved): JobState {
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function move(state: OracleState, job: OracleJob, transition: Resolved, error: string | null): void {
  if (transition.to === 'ready') putBack(state, job)
  else if (transition.to !== 'scheduled') {
    if (transition.to === 'done') job.result = transition.result
    end(state, job, transition.to, error)
  } else if (transition.delayMs === 0) makeReady(state, job)
  else schedule(state, job, state.now + transition.delayMs)
}

function cool(state: OracleState, name: string, how: CoolDown, curved: Set<string>): void {
  const queue = state.queues.get(name)
  if (queue === undefined) return
  if ('forMs' in how) {
    queue.coolUntil = Math.max(queue.coolUntil, state.now + how.forMs)
    return
  }
  if (curved.has(name)) return
  curved.add(name)
  if (queue.coolUntil > state.now) return
  // The quiet period starts when the cool-down ends, because throttles during the cool-down are not counted.
  if (state.now - queue.coolUntil >= how.quietMs) queue.throttles = 0
  queue.coolUntil = state.now + Math.min(how.maxMs, how.baseMs * 2 ** queue.throttles)
  queue.throttles += 1
}

export function progress(state: OracleState, items: readonly Progress[]): boolean[] {
  return items.map(({ id, token, value, log }) => {
    const run = state.jobs.get(id)?.run
    if (run?.token !== token) return false
    run.progress = value ?? run.progress
    run.log = log ?? run.log
    return true
  })
}
