/** Instances: one start of one process each, alive while its row is renewed. */
import type { DutyBid } from './duty.ts'

export interface NewInstance {
  /** Random at each start, so that a reused host name is never taken for the one before. */
  readonly id: string
  readonly label: string | null
  readonly version: string | null
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  /** Those of its kinds whose deaths are followed up: when the reaper makes such a job dead, it enqueues `onDeadJob` with it. */
  readonly onDead: readonly string[]
  /** How many jobs it can run at once, in proportion to others: what its share of a total of workers is measured by. */
  readonly capacity: number
  readonly leaseMs: number
  /**
   * It was reaped because its process stood still, not because it could not reach the database: a handler may have blocked the event loop. The crashes stay
   * counted then, or such a job would run again without end.
   */
  readonly stoodStill?: boolean
}

export interface InstanceRecord extends Omit<NewInstance, 'leaseMs' | 'stoodStill'> {
  readonly state: 'alive' | 'expired' | 'lost' | 'stopped'
  readonly startedAt: number
  readonly renewedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

export interface HeartbeatRequest {
  readonly instance: string
  readonly leaseMs: number
  /** The row is written only when its last renewal is at least this old; otherwise the heartbeat only reads. */
  readonly renewEveryMs: number
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  /** The duties that it would lead. Vacant ones are taken, its own are renewed with the instance, for `leaseMs`. */
  readonly duties: readonly DutyBid[]
}

export interface Heartbeat {
  /** False: it was reaped, ended or never known. Nothing it holds is its own any more. */
  readonly alive: boolean
  /** The cancels that were asked for on jobs it runs. */
  readonly cancels: readonly { readonly id: string; readonly token: number; readonly reason: string }[]
  /** Changes when the settings of any queue change, or those of a limit. */
  readonly settingsVersion: number
  /** Changes when an instance comes, goes, is reaped, or says something else of itself. */
  readonly membersVersion: number
  /** Of those that it asked for, the duties that it leads now. None when it is not alive. By name. */
  readonly leads: readonly string[]
  /** Its workers by queue, where a rebalance has assigned some. By queue. */
  readonly slots: readonly { readonly queue: string; readonly workers: number }[]
  /** Whether a claim of these queues and kinds would find something; suspects are told apart. Not when the limit of the queue is used up. */
  readonly ready: boolean
  readonly quarantined: boolean
  /** When to call `stage` next: 0 for now, null for nothing in sight. A line that moved may say 0 for one pass in vain. */
  readonly stageInMs: number | null
  /** When a limit that keeps ready jobs of these queues and kinds back has something again; null when none does, or only a release can tell. */
  readonly budgetInMs: number | null
  /** When a schedule is to be served or planned: 0 for now, null for none in sight. */
  readonly scheduleInMs: number | null
  /** Whether `reap` has something to do. */
  readonly expired: boolean
  /** Whether `fold` or `rollUp` has something to do. */
  readonly unrolled: boolean
}
