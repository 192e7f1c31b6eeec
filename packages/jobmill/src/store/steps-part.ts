/** The part of a store for durable steps and events. The rules in store.ts apply to every verb. */
import type { ReadOptions } from './types/job-list.ts'
import type { EventReply, Memo, SentEvent, StepRecord, StepWait, StepWrite, Waited } from './types/step.ts'

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
   * Starts or continues the waits of running attempts. A wait for events takes the oldest event with one of
   * the names, which no other wait can take then. A wait that is over counts as a recorded step.
   */
  wait(items: readonly StepWait[]): Promise<Waited[]>
  /** The steps of these jobs, by place. */
  read(ids: readonly string[]): Promise<(readonly Memo[])[]>
  /** The steps of a job for operators, by place. Null if the job does not exist. */
  list(id: string, options?: ReadOptions): Promise<readonly StepRecord[] | null>
  /**
   * Stores events for jobs that have not ended. A job that is parked until one of them arrives becomes
   * ready, at the latest with the next `stage`. With `tx`, when the user's transaction commits.
   */
  send(items: readonly SentEvent[], options?: { readonly tx?: Tx | undefined }): Promise<EventReply[]>
}
