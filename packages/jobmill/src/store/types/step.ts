/** Durable steps of a job: what its handler recorded, what it waits for, and the events that it was sent. */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { EndedState, JobState } from '../../job/state.ts'

/** Stored in rows by their index: never renumber. */
export const STEP_KINDS = ['run', 'sleep', 'event', 'transaction', 'child'] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** The due time of a job that is parked without a timeout: later than any real one. Shown as null. */
export const NEVER_DUE = 253_402_300_799_999

/** A step of a running attempt. Its name is unique within the job. */
interface StepOf {
  /** The id of the job, and the token of the attempt. */
  readonly id: string
  readonly token: number
  readonly name: string
  /** Its position among the steps of the job, from 0. Kept from the first write of the step. */
  readonly place: number
  /**
   * The kind with the version of its definition, as `storedKind` writes it. If this is the first step of the
   * job, the job is kept under this name, so that only instances with this version or a later one claim it.
   */
  readonly versionedKind?: string | undefined
}

export interface StepWrite extends StepOf {
  readonly kind: StepKind
  /** False while the step is running: only its checkpoint is stored. */
  readonly isDone: boolean
  /** The result as JSON text; null for none. */
  readonly result: string | null
  /** JSON text; null for none. */
  readonly checkpoint: string | null
  /** How long the step has been running. */
  readonly ranMs: number
}

/** A step that enqueues child jobs and then waits until all of them have ended. */
export interface ChildrenStart extends StepOf {
  /** New jobs without dedupe keys. */
  readonly jobs: readonly NewJob[]
}

export interface StepWait extends StepOf {
  /** Waits for the child jobs of the step, which was started before. */
  readonly forChildren?: boolean
  /** The names of events. The first event to arrive ends the wait. Empty for a sleep. */
  readonly events: readonly string[]
  /** The maximum wait, from the first call for this step. Null for no timeout, or with `until`. */
  readonly waitMs: number | null
  /** The instant at which the wait ends, or null. */
  readonly until: number | null
}

export interface Waited {
  /** False if the token was stale and nothing was written. */
  readonly accepted: boolean
  /** The wait is over: an event arrived, or the time has passed. */
  readonly isDone: boolean
  /** The event that ended the wait, as JSON text `{"event": …, "payload": …}`; null after a timeout. */
  readonly result: string | null
  /** The time until the wait ends without an event; null if it does not. */
  readonly dueInMs: number | null
}

export interface ChildRecord {
  readonly id: string
  readonly step: string
  /** Its position among the children of the step, from 0. */
  readonly place: number
  /** Null while the child is waiting or running. Like the fields below, it outlives the child. */
  readonly endedAs: EndedState | null
  /** JSON text; null for none. */
  readonly result: string | null
  readonly error: string | null
}

/**
 * Which children of a job to read: those of a step, or the first `limit` of all. With `limit`, and with
 * `results: false`, their results are null: those of 10,000 children may not fit into memory.
 */
export type ChildrenOf = { readonly step: string; readonly results?: boolean } | { readonly limit: number }

/** The cancel reason of children whose parent was cancelled. */
export const PARENT_CANCELLED = 'its parent job was cancelled'
/** The cancel reason of children whose step a rewind removed. */
export const STEPS_REWOUND = 'its parent job was rewound to an earlier step'
/** The error of a child that was deleted before it ended. */
export const CHILD_DELETED = 'the job was deleted'

/** The job whose step enqueued a child. */
export interface ParentRecord {
  readonly id: string
  readonly step: string
}

/** A stored step, as the next attempt of its job reads it. */
export interface Memo extends Pick<
  StepWrite,
  'name' | 'place' | 'kind' | 'isDone' | 'result' | 'checkpoint'
> {}

/** A stored step, as operators see it. */
export interface StepRecord extends Omit<Memo, 'isDone'> {
  readonly startedAt: number
  /** Null while the step is running or waiting. */
  readonly endedAt: number | null
  /** When a wait ends without an event; null for a wait without timeout, and for other steps. */
  readonly dueAt: number | null
  /** The events that it waits for, or waited for. */
  readonly events: readonly string[]
}

export interface SentEvent {
  /** Created by the sender, so that an event that is sent twice is stored once. */
  readonly eventId: string
  /** The id of a job, or the dedupe key that it holds, with its scope. */
  readonly to: string | { readonly dedupeKey: string }
  readonly name: string
  /** JSON text. */
  readonly payload: string
  /** The event is only for a job of this kind. Undefined: for a job of any kind. */
  readonly kind?: string
}

export interface EventReply {
  /** The job; null if none has this id, or none holds this key. */
  readonly id: string | null
  readonly state: JobState | null
  /** False if the job is unknown, has ended or has another kind: nothing was stored. */
  readonly isStored: boolean
  /** The kind of the job, if it is not the kind that the event is for. */
  readonly otherKind?: string
}
