/** Durable steps: what running attempts record and wait for, and the events that end waits. */
import {
  type ChildrenStart,
  type ChildRecord,
  type ChildrenOf,
  type EventReply,
  isEnded,
  type Memo,
  NEVER_DUE,
  type NewJob,
  type ParentRecord,
  parseKind,
  type SentEvent,
  type StepKind,
  type StepRecord,
  type StepWait,
  type StepWrite,
  type Waited,
} from 'jobmill/store'
import type { OracleJob, OracleState, OracleStep } from '../state.ts'
import { parentOf } from './child-ends.ts'
import { becomeDue, enqueue, holdOf } from './enqueue.ts'
import { isInLine } from './order-key.ts'

const REFUSED: Waited = { accepted: false, isDone: false, result: null, dueInMs: null }

function holdingJob(
  state: OracleState,
  { id, token }: Pick<StepWrite, 'id' | 'token'>,
): OracleJob | undefined {
  const job = state.jobs.get(id)
  return job?.run?.token === token ? job : undefined
}

/** The first step decides which versions of the definition may run the job. */
function keepVersion(job: OracleJob, { versionedKind }: Pick<StepWrite, 'versionedKind'>): void {
  if (job.steps.size === 0) job.kind = versionedKind ?? job.kind
}

export function recordSteps(state: OracleState, items: readonly StepWrite[], inTx: boolean): boolean[] {
  return items.map((item) => {
    const job = holdingJob(state, item)
    if (job === undefined) return false
    keepVersion(job, item)
    const { name, place, kind, isDone, result, checkpoint, ranMs } = item
    if (isDone && !inTx) job.attempt = 1
    const known = job.steps.get(name)
    if (known !== undefined && known.endedAt !== null) return true
    const endedAt = isDone ? state.now : null
    if (known === undefined) {
      const startedAt = state.now - Math.round(ranMs)
      job.steps.set(name, {
        name,
        token: item.token,
        place,
        kind,
        startedAt,
        endedAt,
        dueAt: null,
        events: [],
        result,
        checkpoint,
      })
    } else Object.assign(known, { endedAt, result, checkpoint: checkpoint ?? known.checkpoint })
    return true
  })
}

export function startChildren(state: OracleState, items: readonly ChildrenStart[]): boolean[] {
  return items.map((item) => {
    const { token, name, place, jobs } = item
    const parent = holdingJob(state, item)
    if (parent === undefined) return false
    keepVersion(parent, item)
    if (parent.steps.has(name)) return true
    const open = {
      startedAt: state.now,
      endedAt: null,
      dueAt: null,
      events: [],
      result: null,
      checkpoint: null,
    }
    parent.steps.set(name, { name, token, place, kind: 'child', ...open })
    enqueue(state, jobs)
    const entries = jobs.map((job, at) => ({ id: job.id, step: name, place: at }))
    parent.children.push(...entries.map((entry) => ({ ...entry, endedAs: null, result: null, error: null })))
    return true
  })
}

export function children(state: OracleState, id: string, of: ChildrenOf): ChildRecord[] {
  const all = (state.jobs.get(id)?.children ?? []).toSorted((a, b) =>
    a.step < b.step ? -1 : a.step > b.step ? 1 : a.place - b.place,
  )
  const found = 'step' in of ? all.filter(({ step }) => step === of.step) : all.slice(0, of.limit)
  const hasResults = 'step' in of && of.results !== false
  return found.map((child) => ({ ...child, result: hasResults ? child.result : null }))
}

export function parents(state: OracleState, ids: readonly string[]): (ParentRecord | null)[] {
  // Also of a child that was deleted, as its end is kept too.
  return ids.map((id) => parentOf(state, { id }))
}

export function fork(state: OracleState, id: string, place: number, job: NewJob): boolean {
  const origin = state.jobs.get(id)
  if (origin === undefined) return false
  if (state.jobs.has(job.id)) return true
  enqueue(state, [job])
  const made = state.jobs.get(job.id)
  for (const step of origin.steps.values()) {
    const endedAt = endOf(state, step)
    if (step.place < place && endedAt !== null) made?.steps.set(step.name, { ...step, token: 0, endedAt })
  }
  return true
}

export function waitForSteps(state: OracleState, items: readonly StepWait[]): Waited[] {
  return items.map((item) => {
    const job = holdingJob(state, item)
    if (job === undefined) return REFUSED
    keepVersion(job, item)
    return waitFor(state, job, item)
  })
}

function waitFor(
  { now }: OracleState,
  job: OracleJob,
  { name, token, place, events, waitMs, until, forChildren }: StepWait,
): Waited {
  const known = job.steps.get(name)
  if (known?.endedAt === null && forChildren === true) {
    const isOver = hasNoOpenChild(job, name)
    // Without a token, the step does not count as a wait of the attempt.
    known.token = isOver ? 0 : token
    return { accepted: true, isDone: isOver, result: null, dueInMs: null }
  }
  const step: OracleStep = known ?? {
    name,
    token,
    place,
    kind: events.length === 0 ? 'sleep' : 'event',
    startedAt: now,
    endedAt: null,
    dueAt: waitMs === null ? until : now + waitMs,
    events,
    result: null,
    checkpoint: null,
  }
  job.steps.set(name, step)
  step.token = token
  if (step.endedAt === null) {
    const event = job.events.find((one) => one.step === null && events.includes(one.name))
    if (event !== undefined) {
      event.step = name
      step.result = `{"event":${JSON.stringify(event.name)},"payload":${event.payload}}`
    }
    if (event !== undefined || (step.dueAt !== null && step.dueAt <= now)) {
      step.endedAt = now
      job.attempt = 1
    }
  }
  const isDone = step.endedAt !== null
  const dueInMs = isDone || step.dueAt === null ? null : step.dueAt - now
  return { accepted: true, isDone, result: step.result, dueInMs }
}

const WAITS: readonly StepKind[] = ['sleep', 'event', 'child']
const isWait = ({ kind }: OracleStep): boolean => WAITS.includes(kind)

const hasNoOpenChild = ({ children }: OracleJob, name: string): boolean =>
  children.every(({ step, endedAs }) => step !== name || endedAs !== null)

/** Earlier attempts may have been of code that waited for something else. */
function openWaits(job: OracleJob): OracleStep[] {
  const token = job.run?.token ?? job.attempts.at(-1)?.token
  return [...job.steps.values()].filter(
    (step) => isWait(step) && step.token === token && step.endedAt === null,
  )
}

export function hasArrived(job: OracleJob): boolean {
  return openWaits(job).some(({ name: wait, kind, events }) =>
    kind === 'child'
      ? hasNoOpenChild(job, wait)
      : job.events.some(({ step, name }) => step === null && events.includes(name)),
  )
}

/**
 * When a parked job must run again: now, if it has no open wait, if the time of one is over, or if an event
 * has arrived.
 */
export function parkedUntil({ now }: OracleState, job: OracleJob): number {
  const waits = openWaits(job)
  if (waits.length === 0 || hasArrived(job)) return now
  return Math.max(now, Math.min(...waits.map(({ dueAt }) => dueAt ?? NEVER_DUE)))
}

export function sendEvents(state: OracleState, items: readonly SentEvent[]): EventReply[] {
  return items.map(({ eventId, to, name, payload, kind }) => {
    const id = typeof to === 'string' ? to : holdOf(state, to.dedupeKey)?.holder
    const job = id === undefined ? undefined : state.jobs.get(id)
    if (job === undefined) return { id: null, state: null, isStored: false }
    const own = parseKind(job.kind).kind
    if (kind !== undefined && kind !== own)
      return { id: job.id, state: job.state, isStored: false, otherKind: own }
    if (job.events.some((event) => event.id === eventId))
      return { id: job.id, state: job.state, isStored: true }
    if (isEnded(job.state)) return { id: job.id, state: job.state, isStored: false }
    job.events.push({ id: eventId, name, payload, step: null })
    if (isParked(state, job) && hasArrived(job)) becomeDue(state, job)
    return { id: job.id, state: job.state, isStored: true }
  })
}

/** A job that is scheduled for another reason, such as its backoff, does not wait for an event. */
export function isParked(state: OracleState, job: OracleJob): boolean {
  return job.state === 'scheduled' && !isInLine(state, job) && job.attempts.at(-1)?.outcome === 'parked'
}

/** A sleep whose time is up has ended, although nothing was written. */
function endOf({ now }: OracleState, { kind, endedAt, dueAt }: OracleStep): number | null {
  return endedAt === null && kind === 'sleep' && dueAt !== null && dueAt <= now ? dueAt : endedAt
}

export function memos(state: OracleState, ids: readonly string[]): Memo[][] {
  return ids.map((id) =>
    inPlace(state.jobs.get(id)).map((step) => {
      const { name, place, kind, result, checkpoint } = step
      return { name, place, kind, isDone: endOf(state, step) !== null, result, checkpoint }
    }),
  )
}

export function listSteps(state: OracleState, id: string): StepRecord[] | null {
  const job = state.jobs.get(id)
  return job === undefined
    ? null
    : inPlace(job).map((step) => {
        const { token: _, ...record } = step
        return { ...record, endedAt: endOf(state, step) }
      })
}

function inPlace(job: OracleJob | undefined): OracleStep[] {
  return [...(job?.steps.values() ?? [])].toSorted((a, b) => a.place - b.place)
}
