/** Cancel, retry, run now and delete, by the table in store/types/replies.ts. */
import {
  cancelRow,
  CHILD_DELETED,
  isEnded,
  isHeldUntilEnd,
  type JobState,
  type NewPayload,
  onCancelledJob,
  PARENT_CANCELLED,
  parseKind,
  STEPS_REWOUND,
  type Verdict,
  withEntriesOf,
} from 'jobmill/store'
import { childEnded, childReopened } from './child-ends.ts'
import { becomeDue, enqueue, holdOf } from './enqueue.ts'
import { end, freeKey } from './moves.ts'
import { leaveGroup } from './group-line.ts'
import { freeOrderLock, isInLine, leaveOrderQueue } from './order-key.ts'
import type { OracleJob, OracleState } from '../state.ts'

type Did = Omit<Verdict, 'id'>

const changed = (state: JobState | null): Did => ({ verdict: 'changed', state })
const unchanged = (state: JobState): Did => ({ verdict: 'unchanged', state })
const refused = (state: JobState): Did => ({ verdict: 'refused', state })

function each(
  state: OracleState,
  ids: readonly string[],
  act: (job: OracleJob, at: number) => Did,
): Verdict[] {
  return ids.map((id, at) => {
    const job = state.jobs.get(id)
    return job === undefined ? { id, verdict: 'unknown', state: null } : { id, ...act(job, at) }
  })
}

export function cancel(state: OracleState, ids: readonly string[], reason: string): Verdict[] {
  return each(state, ids, (job) => {
    const did = cancelRow(job, reason, state.now)
    if (did.verdict === 'changed' && did.state === 'cancelled') {
      end(state, job, 'cancelled', reason)
      wasCancelled(state, job, reason)
    }
    return did
  })
}

/** Cancels its open children, and enqueues its follow-up. */
export function wasCancelled(state: OracleState, job: OracleJob, reason: string): void {
  const { kind } = parseKind(job.kind)
  cancelChildren(state, job)
  state.lastToken += 1
  if (state.followed.has(kind))
    enqueue(state, [onCancelledJob({ ...job, kind, reason, token: state.lastToken })])
}

function cancelChildren(state: OracleState, job: OracleJob): void {
  const open = job.children.filter(({ endedAs }) => endedAs === null)
  cancel(
    state,
    open.map(({ id }) => id),
    PARENT_CANCELLED,
  )
}

export function retry(
  state: OracleState,
  ids: readonly string[],
  payloads: readonly NewPayload[] = [],
): Verdict[] {
  return each(state, ids, (job, at) => {
    if (job.state !== 'dead' && job.state !== 'cancelled') return refused(job.state)
    const change = payloads[at]
    if (change !== undefined && change.endedAt !== job.endedAt) return refused(job.state)
    const did = revive(state, job)
    if (change !== undefined && did.verdict === 'changed') {
      job.payload = change.payload
      job.tags = withEntriesOf(job.tags, change.entries)
    }
    return did
  })
}

function revive(state: OracleState, job: OracleJob): Did {
  if (job.dedupe !== null && isHeldUntilEnd(job.dedupe.holdAfter)) {
    const holder = holdOf(state, job.dedupe.key)?.holder
    if (holder !== undefined && holder !== job.id) return { ...refused(job.state), holder }
    state.holds.set(job.dedupe.key, { holder: job.id, until: null })
  }
  job.attempt = 0
  job.crashes = 0
  job.endedAt = null
  job.state = 'scheduled'
  job.dueAt = state.now
  childReopened(state, job)
  becomeDue(state, job)
  return changed(job.state)
}

/** Removes the steps from this place on, with everything that belongs to them. */
export function rewind(state: OracleState, id: string, place: number): Verdict {
  const job = state.jobs.get(id)
  if (job === undefined) return { id, verdict: 'unknown', state: null }
  if (!isEnded(job.state)) return { id, ...refused(job.state) }
  const did = revive(state, job)
  if (did.verdict !== 'changed') return { id, ...did }
  job.result = null
  const removed = new Set([...job.steps.values()].flatMap((step) => (step.place >= place ? step.name : [])))
  const isOpen = ({ step, endedAs }: OracleJob['children'][number]): boolean =>
    removed.has(step) && endedAs === null
  cancel(
    state,
    job.children.filter(isOpen).map((child) => child.id),
    STEPS_REWOUND,
  )
  for (const event of job.events) if (event.step !== null && removed.has(event.step)) event.step = null
  job.children = job.children.filter(({ step }) => !removed.has(step))
  for (const name of removed) job.steps.delete(name)
  return { id, ...did }
}

export function runNow(state: OracleState, ids: readonly string[]): Verdict[] {
  return each(state, ids, (job) => {
    if (job.state === 'ready') return unchanged('ready')
    if (job.state !== 'scheduled') return refused(job.state)
    if (isInLine(state, job)) return unchanged('scheduled')
    job.dueAt = state.now
    becomeDue(state, job)
    return changed(job.state)
  })
}

export function remove(state: OracleState, ids: readonly string[]): Verdict[] {
  return each(state, ids, (job) => {
    if (job.state === 'running') return refused('running')
    leaveOrderQueue(state, job)
    leaveGroup(state, job)
    freeOrderLock(state, job)
    // The hold of an ended job outlives its deletion.
    if (job.endedAt === null) {
      freeKey(state, job)
      childEnded(state, job, 'cancelled', { error: CHILD_DELETED })
    }
    state.jobs.delete(job.id)
    return changed(null)
  })
}
