/** The part of a store for durable steps and events. The rules in store.ts apply to every verb. */
import type { ReadOptions } from './types/job-list.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { Verdict } from './types/replies.ts'
import type {
  ChildRecord,
  ChildrenOf,
  ChildrenStart,
  EventReply,
  Memo,
  ParentRecord,
  SentEvent,
  StepRecord,
  StepWait,
  StepWrite,
  Waited,
} from './types/step.ts'

/** Durable steps of jobs, and the events that jobs wait for. `Tx` is the type of user transaction. */
export interface StepsPart<Tx = unknown> {
  /**
   * Records steps of running attempts, and the checkpoints of steps that are not done. A done step never
   * changes again: a repeated write of it is accepted and ignored. The first recorded step resets the number
   * of the attempt to 1, except in a transaction. Returns true for each item whose token was current. With
   * `tx`, the steps are recorded when the user's transaction commits.
   */
  record(items: readonly StepWrite[], options?: { readonly tx?: Tx | undefined }): Promise<boolean[]>
  /**
   * Starts steps that wait for child jobs: writes the step and its jobs together, unless the step was started
   * before. When the parent ends as cancelled, its children are cancelled too. Returns true for each item
   * whose token was current.
   */
  start(items: readonly ChildrenStart[]): Promise<boolean[]>
  /**
   * Starts or continues the waits of running attempts. A wait for events takes the oldest event with one of
   * its names, so that no other wait receives it, and then counts as a recorded step. A wait for children is
   * over when all of them have ended. Its step stays open until it is recorded.
   */
  wait(items: readonly StepWait[]): Promise<Waited[]>
  /** The steps of these jobs, by place. */
  read(ids: readonly string[]): Promise<(readonly Memo[])[]>
  /** The children of a job, by step and place. */
  children(id: string, of: ChildrenOf): Promise<ChildRecord[]>
  /**
   * The parents of these jobs, which may be deleted. Null for a job that is not a child, or whose parent was
   * deleted.
   */
  parents(ids: readonly string[]): Promise<(ParentRecord | null)[]>
  /**
   * Makes an ended job ready again, as `retry` does, and removes its steps from this place on. The events
   * that these steps took can be received again, and their children that have not ended are cancelled.
   */
  rewind(id: string, place: number): Promise<Verdict>
  /**
   * Enqueues a new job with the recorded steps of this one before `place`. Returns false if this job does not
   * exist. Changes nothing if a job with the id of the new one exists.
   */
  fork(id: string, place: number, job: NewJob): Promise<boolean>
  /** The steps of a job for operators, by place. Null if the job does not exist. */
  list(id: string, options?: ReadOptions): Promise<readonly StepRecord[] | null>
  /**
   * Stores events for jobs that have not ended. A job that is parked until one of them arrives becomes
   * ready, at the latest with the next `stage`. With `tx`, when the user's transaction commits.
   */
  send(items: readonly SentEvent[], options?: { readonly tx?: Tx | undefined }): Promise<EventReply[]>
}
