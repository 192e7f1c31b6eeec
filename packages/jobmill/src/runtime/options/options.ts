/** The options of a mill: resolved once, frozen, unknown keys rejected with the nearest match. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import type { AlertOptions } from '../../job/alert/alert-options.ts'
import type { AnyJob, JobDefinition } from '../../job/kind/definition.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import type { LimitOptions } from '../../job/limit/limit.ts'
import { checkWhole } from '../../job/numbers.ts'
import { ON_CANCELLED_QUEUE } from '../../job/attempt/on-cancelled.ts'
import { ON_DEAD_QUEUE } from '../../job/attempt/on-dead.ts'
import { hasGroups } from '../../job/queue/group-settings.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { PreparedSchedule, ScheduleOptions } from '../../job/schedule/schedule-options.ts'
import type { Tracing } from '../../job/tracing.ts'
import { type ForwardLog, forwardLog } from '../../observe/log/forward-log.ts'
import type { Logger } from '../../observe/log/logger.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { DeclaredLimit } from '../../store/types/limit.ts'
import type { Store } from '../../store/store.ts'
import type { Middleware } from '../../work/handler.ts'
import type { DeclaredAlert } from '../alerts/alerts.ts'
import { BULK_QUEUE } from '../operate/bulk/bulk-filter.ts'
import { declaredAlerts } from './alert-options.ts'
import {
  checkJobs,
  checkMiddleware,
  checkNode,
  checkParts,
  checkPlatform,
  checkStore,
  checkTracing,
} from './given-parts.ts'
import { type OwnDuty, ownDuties, type ResolvedDuty } from './duty-options.ts'
import { checkQueueLimits, declaredLimits } from '../operate/limits.ts'
import { type LogOption, loggerFor } from './log-option.ts'
import { type Problem, type Problems, problems } from './problems.ts'
import {
  checkChunks,
  type QueueOptions,
  queueSettings,
  type Route,
  router,
  servedQueues,
  warnOfStrays,
} from './queue-options.ts'
import { type RetainOptions, retainOptions } from './retain-options.ts'
import { declaredSchedules } from './schedule-declarations.ts'
import { type InstanceOptions, instanceNames } from './label.ts'

/**
 * `Inputs` are the payload types of the schedules, in their order. They are inferred, so that payloads are
 * checked.
 */
export interface MillOptions<
  S = Store<never>,
  Inputs extends readonly unknown[] = readonly never[],
  Context = unknown,
> {
  /** Where jobs are stored: `sqlite('jobs.db')` or `postgres(url)`. The mill opens and closes it. */
  readonly store: S
  /** The jobs that this process can run, created with `defineJob` or `implement`. */
  readonly jobs?: readonly JobDefinition<never, unknown, NoInfer<Context>>[]
  /** What handlers get as `context`, such as `{ db }`. It must have what every job needs. */
  readonly context?: Context
  /**
   * Queue settings. They apply when this process opens the store, except for options that an operator
   * overrode.
   */
  readonly queues?: Readonly<Record<string, QueueOptions>>
  /**
   * Rate and concurrency limits for handlers and queues, across all processes. They apply when this process
   * opens the store, except for options that an operator overrode.
   */
  readonly limits?: Readonly<Record<string, LimitOptions>>
  /**
   * Cron and interval schedules. They apply when this process opens the store, except for options that an
   * operator overrode.
   */
  readonly schedules?: { readonly [At in keyof Inputs]: ScheduleOptions<Inputs[At]> }
  /**
   * Alert rules: which problems that `mill.diagnostics()` finds are sent to a webhook. They apply when this
   * process opens the store.
   */
  readonly alerts?: Readonly<Record<string, AlertOptions>>
  /** The queues that this process works on. Default: JOBMILL_QUEUES, else the queues of its kinds. */
  readonly serve?: readonly string[]
  /**
   * The queue of a kind that does not name one: by longest matching prefix, or a function. Default:
   * `default`.
   */
  readonly route?: Route
  /** Functions that wrap every handler, the first one outermost. */
  readonly middleware?: readonly Middleware[]
  /** Periodic tasks of your application, run like the built-in duties. */
  readonly duties?: readonly OwnDuty[]
  /**
   * The maximum number of jobs that this process runs at once, over all queues. Also the weight of its share
   * of a queue's total, where an omitted capacity counts as 10. Default: the sum of its workers.
   */
  readonly capacity?: number
  /** Retention of everything except jobs, and how often it runs. For jobs, see `queues`. */
  readonly retain?: RetainOptions
  /** How long this process may miss heartbeats before other processes run its jobs (default 10 s). */
  readonly lease?: Duration
  /** How often it renews its lease (default 3 s). */
  readonly renewEvery?: Duration
  /** How long running jobs may take to finish after `stop` (default 25 s). */
  readonly grace?: Duration
  /** A handler that still runs this long after its signal was aborted is reported as stuck (default 10 s). */
  readonly stuckAfter?: Duration
  /** A job that was running during this many crashes is dead (default 3). */
  readonly crashesUntilDead?: number
  /** The largest payload, as JSON (default 1 MiB). A result has a limit of its own, 1 MiB. */
  readonly payloadLimitBytes?: number
  /**
   * Where log lines go: a level (default `warn`, on standard error), `silent`, or your logger: console, pino,
   * winston, a function.
   */
  readonly log?: LogOption
  /**
   * Whether to forward lines that handlers write with `log` to the mill's `log`, subject to its level
   * (default true). They are stored with the attempt either way.
   */
  readonly forwardJobLogs?: boolean
  /** Tracing spans: `openTelemetry()` from jobmill/opentelemetry (default none). */
  readonly tracing?: Tracing
  /**
   * The name of this process for operators. Omitted parts come from JOBMILL_WORKER_PREFIX,
   * JOBMILL_WORKER_VERSION and JOBMILL_WORKER_ID.
   */
  readonly instance?: InstanceOptions
  /** The source of JOBMILL_QUEUES and the parts of the label (default `process.env`). */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For tests: clocks, timers, random numbers and ids. */
  readonly platform?: Platform
}

const KEYS = [
  'store',
  'jobs',
  'context',
  'queues',
  'limits',
  'schedules',
  'alerts',
  'serve',
  'route',
  'middleware',
  'duties',
  'capacity',
  'retain',
  'lease',
  'renewEvery',
  'grace',
  'stuckAfter',
  'crashesUntilDead',
  'payloadLimitBytes',
  'log',
  'forwardJobLogs',
  'tracing',
  'instance',
  'env',
  'platform',
] as const satisfies readonly (keyof MillOptions)[]

export interface Resolved {
  readonly jobs: readonly AnyJob[]
  readonly context: unknown
  readonly declared: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[]
  readonly limits: readonly DeclaredLimit[]
  readonly schedules: readonly PreparedSchedule[]
  readonly alerts: readonly DeclaredAlert[]
  /** Empty when there is none. The mill can then enqueue but not start. */
  readonly serve: readonly string[]
  readonly instance: ReturnType<typeof instanceNames>
  readonly queueOf: (kind: string) => string
  /** Every queue that these options name, plus the default and those of Jobmill itself. */
  readonly queuesInCode: ReadonlySet<string>
  readonly middleware: readonly Middleware[]
  readonly duties: readonly ResolvedDuty[]
  /** Null: the sum of its workers. */
  readonly capacity: number | null
  readonly retain: ReturnType<typeof retainOptions>
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly graceMs: number
  readonly stuckAfterMs: number
  readonly crashesUntilDead: number
  readonly payloadLimitBytes: number
  readonly logger: Logger | null
  readonly forwardLog: ForwardLog | null
  readonly tracing: Tracing | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: Platform
  readonly problems: readonly Problem[]
}

export function resolveOptions(given: MillOptions): Resolved {
  const found = problems()
  const options = found.keys(given, 'options', KEYS) ? given : ({} as MillOptions)
  checkNode(found)
  found.try('store', undefined, () => checkStore(options.store, found))
  const { env = process.env } = options
  const platform = found.option(options.platform, 'platform', systemPlatform, checkPlatform)
  const jobs = checkJobs(options.jobs ?? [], found)
  const queueOf = router(options.route, jobs, found)
  const goesTo = routed(jobs, queueOf, found)
  const named = servedQueues(options.serve, env['JOBMILL_QUEUES'], goesTo, found)
  const serve = withFollowUps(named, jobs)
  const declared = queueSettings(options.queues ?? {}, found)
  const limits = declaredLimits(options.limits ?? {}, found)
  const payloadLimitBytes = found.option(
    options.payloadLimitBytes,
    'payloadLimitBytes',
    DEFAULTS.payloadLimitBytes,
    (bytes, field) => checkWhole(bytes, field, { least: 1, most: Number.MAX_SAFE_INTEGER }),
  )
  const schedules = declaredSchedules(options.schedules ?? [], { jobs, queueOf, payloadLimitBytes }, found)
  const alerts = declaredAlerts(options.alerts ?? {}, found)
  const onCancelled = jobs.filter((job) => job.onCancelled !== undefined)
  const groups = declared.filter(({ settings }) => hasGroups(settings))
  checkParts(options.store, { schedules, limits, alerts, groups, onCancelled }, found)
  const used = [...serve, ...goesTo, ...schedules.map(({ definition }) => definition.queue)]
  warnOfStrays(declared, used, found)
  checkQueueLimits(declared, limits, found)
  checkChunks(jobs, queueOf, declared, limits, found)
  const instance = instanceNames(options.instance, env, found)
  return Object.freeze({
    jobs,
    context: options.context,
    declared,
    limits,
    schedules,
    alerts,
    serve,
    instance,
    queueOf,
    queuesInCode: new Set([...used, ...declared.map(({ name }) => name), ...routes(options.route), ...OURS]),
    middleware: checkMiddleware(options.middleware ?? [], found),
    duties: ownDuties(options.duties ?? [], found),
    capacity: found.option<number, number | null>(options.capacity, 'capacity', null, (jobs, field) =>
      checkWhole(jobs, field, BOUNDS.capacity),
    ),
    retain: retainOptions(options.retain ?? {}, found),
    ...leaseTimes(options, found),
    graceMs: found.option(options.grace, 'grace', DEFAULTS.graceMs, durationMs),
    stuckAfterMs: found.option(options.stuckAfter, 'stuckAfter', DEFAULTS.stuckAfterMs, durationMs),
    crashesUntilDead: found.option(
      options.crashesUntilDead,
      'crashesUntilDead',
      DEFAULTS.crashesUntilDead,
      (crashes, field) => checkWhole(crashes, field, BOUNDS.crashesUntilDead),
    ),
    payloadLimitBytes,
    ...logOptions(options, found),
    tracing: found.option<Tracing, Tracing | null>(options.tracing, 'tracing', null, checkTracing),
    env,
    platform,
    problems: found.found,
  })
}

const OURS: readonly string[] = [DEFAULTS.queue, BULK_QUEUE, ON_DEAD_QUEUE, ON_CANCELLED_QUEUE]

/** The queues of a table of routes. What a function returns is not known in advance. */
function routes(route: Route | undefined): string[] {
  return typeof route === 'object' && route !== null ? Object.values(route) : []
}

function logOptions(
  { log, forwardJobLogs = true }: MillOptions,
  found: Problems,
): Pick<Resolved, 'logger' | 'forwardLog'> {
  const logger = found.try('log', null, () => loggerFor(log))
  return { logger, forwardLog: logger === null || !forwardJobLogs ? null : forwardLog(logger) }
}

function routed(jobs: readonly AnyJob[], queueOf: (kind: string) => string, found: Problems): string[] {
  return jobs.flatMap(({ kind }) => found.try('route', [], () => [queueOf(kind)]))
}

function leaseTimes(options: MillOptions, found: Problems): { leaseMs: number; renewEveryMs: number } {
  const leaseMs = found.option(options.lease, 'lease', DEFAULTS.instanceLeaseMs, durationMs)
  const renewEveryMs = found.option(options.renewEvery, 'renewEvery', DEFAULTS.renewEveryMs, durationMs)
  if (leaseMs < 2 * renewEveryMs || leaseMs === 0) {
    const why = `must be at least twice renewEvery (got ${leaseMs} ms and ${renewEveryMs} ms), or one late renewal would lose every job`
    found.add('error', 'OPTION_CONFLICT', 'lease', `${why}. Raise lease or lower renewEvery`)
  }
  return { leaseMs, renewEveryMs }
}

/**
 * A process that defines `onDead` or `onCancelled` also serves the queue where it runs, unless the process
 * only enqueues.
 */
function withFollowUps(serve: readonly string[], jobs: readonly AnyJob[]): readonly string[] {
  if (serve.length === 0) return serve
  const dead = jobs.some(({ onDead }) => onDead !== undefined) ? [ON_DEAD_QUEUE] : []
  const cancelled = jobs.some(({ onCancelled }) => onCancelled !== undefined) ? [ON_CANCELLED_QUEUE] : []
  return [...new Set([...serve, ...dead, ...cancelled])]
}
