/** Instances. Each start of a mill creates one, which counts as alive while it renews its lease. */
import type { DutyBid } from './duty.ts'

export interface KindDefaults {
  readonly kind: string
  readonly queue: string
  readonly priority: number
  readonly maxAttempts: number
  readonly indexedPayload?: readonly string[] | undefined
  /** The path of the group in the payload. */
  readonly groupPath?: string | undefined
}

export interface NewInstance {
  /** Random at each start, so that an instance is never mistaken for an earlier one on the same host. */
  readonly id: string
  readonly label: string | null
  readonly version: string | null
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  /**
   * The kinds with an `onDead` callback. When the reaper makes such a job dead, it also enqueues `onDeadJob`
   * for it.
   */
  readonly onDead: readonly string[]
  /**
   * The kinds with an `onCancelled` callback. When such a job is cancelled, the store also enqueues
   * `onCancelledJob` for it, at the latest with the next `stage`. The last new instance with the kind
   * decides. Default: none.
   */
  readonly onCancelled?: readonly string[]
  /**
   * What new jobs of its kinds get if they do not say. A store whose database can enqueue without this code
   * keeps them. The last new instance with the kind decides.
   */
  readonly kindDefaults?: readonly KindDefaults[]
  /**
   * How many jobs it can run at once. Determines its share when a total number of workers is divided among
   * instances.
   */
  readonly capacity: number
  readonly leaseMs: number
  /**
   * Set when the instance was reaped because its process was blocked or suspended, and not because it lost
   * the database. A handler may have blocked the event loop, so the crashes stay counted. Otherwise such a
   * job would be retried endlessly.
   */
  readonly stoodStill?: boolean
}

/**
 * What an operator requested of a running instance. `quiet`: claim no more jobs, and let running jobs finish.
 * `stop`: shut down gracefully, which cannot be undone.
 */
export type InstanceRequest = 'quiet' | 'stop'

interface Requested {
  readonly requested: InstanceRequest | null
  /** Who requested it. Null without a request. */
  readonly requestedBy: string | null
}

export interface InstanceRecord
  extends Requested, Omit<NewInstance, 'onCancelled' | 'kindDefaults' | 'leaseMs' | 'stoodStill'> {
  readonly state: 'alive' | 'expired' | 'lost' | 'stopped'
  readonly startedAt: number
  readonly renewedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
  /** When it was requested. Null without a request. */
  readonly requestedAt: number | null
}

/** Whether new jobs may be leased to an instance: it is alive, and was not asked to be quiet or to stop. */
export function isClaiming({ state, requested }: Pick<InstanceRecord, 'state' | 'requested'>): boolean {
  return state === 'alive' && requested === null
}

/** A version of the application, as instances declared it. */
export interface VersionRecord {
  readonly version: string
  /** When its first instance registered. */
  readonly firstAt: number
  /** When its last instance was last known to be alive. */
  readonly lastAt: number
  /** How many instances ran it, and how many of them are alive. */
  readonly instances: number
  readonly alive: number
}

export interface HeartbeatRequest {
  readonly instance: string
  readonly leaseMs: number
  /** The row is written only if its last renewal is at least this old. Otherwise the heartbeat only reads. */
  readonly renewEveryMs: number
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  /**
   * The duties that this instance is willing to lead. It takes over vacant ones and renews its own, for
   * `leaseMs`.
   */
  readonly duties: readonly DutyBid[]
}

export interface Heartbeat extends Requested {
  /** False if it was reaped, ended, or never registered. It has then lost all its leases. */
  readonly alive: boolean
  /** Cancels that were requested for jobs it runs. */
  readonly cancels: readonly { readonly id: string; readonly token: number; readonly reason: string }[]
  /** Changes when the settings of a queue or a limit change. */
  readonly settingsVersion: number
  /** Changes when an instance starts, ends, is reaped, or updates its record. */
  readonly membersVersion: number
  /** The requested duties that it leads now, sorted by name. Empty if it is not alive. */
  readonly leads: readonly string[]
  /** The workers that a rebalance assigned to it, sorted by queue. */
  readonly slots: readonly { readonly queue: string; readonly workers: number }[]
  /**
   * Whether a claim with these queues and kinds would find a job. Jobs of a queue whose limit is exhausted do
   * not count. `quarantined` says the same for quarantined jobs.
   */
  readonly ready: boolean
  readonly quarantined: boolean
  /**
   * When to call `stage` next: 0 for now, null if no job waits for it. After an order queue advanced, it may
   * be 0 although the next pass has nothing to do.
   */
  readonly stageInMs: number | null
  /**
   * When a limit that blocks ready jobs of these queues and kinds has budget again. Null if no limit blocks
   * them, or if it depends on a release.
   */
  readonly budgetInMs: number | null
  /** When a schedule must be served or planned: 0 for now, null for none. */
  readonly scheduleInMs: number | null
  /** Whether `reap` has work to do. */
  readonly expired: boolean
  /** Whether `fold` or `rollUp` has work to do. */
  readonly unrolled: boolean
}
