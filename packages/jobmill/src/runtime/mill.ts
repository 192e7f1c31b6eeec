/** The mill: the one object that applications use. */
import type { Client } from '../enqueue/client.ts'
import type { Run } from '../enqueue/run.ts'
import type { InstanceInfo } from '../job/context.ts'
import type { ConfigDrift, EventType } from '../job/events.ts'
import type { JobHandle } from '../job/enqueue/handle.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import type { EventCounts, Listener } from '../observe/event-hub.ts'
import type { CustomMetrics } from '../observe/prometheus/custom-metrics.ts'
import type { Alerts } from './alerts/alerts.ts'
import type { Audit } from './operate/audit.ts'
import type { Views } from './operate/views.ts'
import type { Bulk } from './operate/bulk/bulk.ts'
import type { Diagnostics } from './diagnose/diagnostics.ts'
import type { InstanceControl } from './operate/instances.ts'
import type { Kinds } from './operate/kinds.ts'
import type { StopOptions } from './lifecycle.ts'
import type { Errors } from './operate/errors/errors.ts'
import type { Groups } from './operate/groups.ts'
import type { Limiting } from './operate/limits.ts'
import type { Listing } from './operate/list-jobs.ts'
import type { Capacity } from './report/capacity.ts'
import type { Observation } from './report/observation.ts'
import type { Operate } from './operate/operate.ts'
import type { OverridesApi } from './operate/overrides.ts'
import type { Problem } from './options/problems.ts'
import type { QueueOptions } from './options/queue-options.ts'
import type { Readiness } from './diagnose/readiness.ts'
import type { Schedules } from './operate/schedules.ts'
import type { StopReport } from '../work/stop-in-stages.ts'
import type { RecentRuns } from './report/recent-runs.ts'
import type { ResourceReads } from './report/resources.ts'
import type { StepsApi } from './operate/steps.ts'
import type { System } from './report/system.ts'
import type { DutyControl } from './operate/duty-control.ts'
import type { Explain } from './diagnose/why.ts'

export interface Mill<Tx = unknown>
  extends
    Omit<Client<Tx>, 'prepare' | 'takeUnnotified'>,
    Run,
    Operate,
    Listing,
    Explain,
    DutyControl,
    InstanceControl,
    Observation,
    Capacity,
    RecentRuns,
    Errors,
    Limiting,
    Groups,
    Diagnostics,
    OverridesApi,
    Kinds,
    StepsApi,
    CustomMetrics,
    System,
    ResourceReads {
  /** Opens the store without starting workers. Optional: every other call opens it when needed. */
  open(): Promise<void>
  /**
   * Opens the store, registers this process and starts working. Calling it twice has no effect. A failed
   * start undoes what it began.
   */
  start(): Promise<void>
  /**
   * Graceful shutdown: stops claiming, lets running jobs finish within the grace period (default 25 s),
   * returns the rest to the queue without spending an attempt, and closes the store. A second call can only
   * shorten the grace period.
   */
  stop(options?: StopOptions): Promise<StopReport>
  /** A handle for a job of any process, by id. Pass the definition to get a typed result. */
  job(id: string): JobHandle
  job<Result>(definition: JobKind<never, Result>, id: string): JobHandle<Result>
  /** Also works on this queue from now on. Settings apply like those of the option `queues`. */
  serve(queue: string, settings?: QueueOptions): Promise<void>
  /** Looks for work now. Call it after you commit a transaction that enqueued jobs. */
  wake(): void
  /** Bulk actions: one action on every job that matches a filter. */
  readonly bulk: Bulk
  /** The audit log of manual changes. */
  readonly audit: Audit
  /** Whether this process can do its work, for health checks. Never rejects. */
  readonly readiness: () => Promise<Readiness>
  /** Schedules at run time. */
  readonly schedules: Schedules
  /** Alert rules at run time. */
  readonly alerts: Alerts
  /** Saved views of the job list. */
  readonly views: Views
  /** Configuration drift: where stored settings differ from the options of this process. */
  drift(): Promise<ConfigDrift[]>
  /**
   * Metrics in the Prometheus text format (0.0.4): counters of this process, gauges of queues, limits,
   * instances and duties, and metrics registered with `counter`, `gauge` and `histogram`. Never rejects:
   * without the store it returns what the process knows.
   */
  prometheus(): Promise<string>
  /**
   * Subscribes to lifecycle events of this process. An error in a listener fails no job, but a listener that
   * blocks the event loop delays everything. Returns a function that unsubscribes.
   */
  readonly on: <Type extends EventType>(type: Type | '*', listener: Listener<Type>) => () => void
  /** The identity of this process. It changes when the mill is started again after a failed start. */
  readonly instance: InstanceInfo
  readonly queuesServed: readonly string[]
  /** Never contains a password. */
  readonly storeName: string
  /** Warnings about options that are valid but questionable. `start` logs each of them once. */
  readonly warnings: readonly Problem[]
  readonly eventCounts: EventCounts
}
