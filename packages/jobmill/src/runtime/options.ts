/** The options of a mill: resolved once, frozen, unknown keys refused with the nearest match. */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import { type AnyJob, isDefinition } from '../job/definition.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import type { LimitOptions } from '../job/limit.ts'
import { checkWhole } from '../job/numbers.ts'
import { ON_DEAD_QUEUE, onDeadKind } from '../job/on-dead.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { PreparedSchedule, ScheduleOptions } from '../job/schedule-options.ts'
import type { Tracing } from '../job/tracing.ts'
import { type ForwardLog, forwardLog } from '../observe/forward-log.ts'
import type { Logger } from '../observe/logger.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { DeclaredLimit } from '../store/limit.ts'
import type { Store } from '../store/store.ts'
import type { Middleware } from '../work/handler.ts'
import { type OwnDuty, ownDuties, type ResolvedDuty } from './duty-options.ts'
import { checkQueueLimits, declaredLimits } from './limits.ts'
import { type LogOption, loggerFor } from './log-option.ts'
import { type Problem, type Problems, problems } from './problems.ts'
import { type QueueOptions, queueSettings, servedQueues, warnOfStrays } from './queue-options.ts'
import { type ResolvedRetain, type RetainOptions, retainOptions } from './retain-options.ts'
import { type Route, router } from './route.ts'
import { declaredSchedules } from './schedule-declarations.ts'
import { type InstanceNames, type InstanceOptions, instanceNames } from './label.ts'
import { checkTracing } from './tracing-option.ts'

/** `Inputs` are what the jobs of the schedules take, in their order: inferred, so that payloads are checked. */
export interface MillOptions<S = Store<never>, Inputs extends readonly unknown[] = readonly never[]> {
  /** Where jobs live: `sqlite('jobs.db')` or `postgres(url)`. The mill opens it and closes it. */
  readonly store: S
  /** What this process can run, made by `defineJob`. */
  readonly jobs?: readonly AnyJob[]
  /** Settings of queues. They count from the start of this process on, option by option, except where an operator overrode one. */
  readonly queues?: Readonly<Record<string, QueueOptions>>
  /** Budgets that handlers and queues draw on, over all processes. They count as `queues` do. */
  readonly limits?: Readonly<Record<string, LimitOptions>>
  /** What is enqueued by the clock. They count as `queues` do. */
  readonly schedules?: { readonly [At in keyof Inputs]: ScheduleOptions<Inputs[At]> }
  /** The queues that this process works on. Left out: JOBMILL_QUEUES, else those that its kinds route to. */
  readonly serve?: readonly string[]
  /** Which queue a kind goes to when it does not say itself: by the longest prefix that fits, or a function. Else `default`. */
  readonly route?: Route
  readonly middleware?: readonly Middleware[]
  /** Periodic tasks of yours, run by the supervisor that runs ours. */
  readonly duties?: readonly OwnDuty[]
  /** How many jobs this process runs at once at most, over all queues; also what its share of a queue's total is measured by. */
  readonly capacity?: number
  /** How long things beside jobs are kept, and how often what is too old is deleted. Of jobs: see `queues`. */
  readonly retain?: RetainOptions
  /** How long this process may be silent before its jobs are given to others (default 10 s). */
  readonly lease?: Duration
  /** How often it says that it is alive (default 3 s). */
  readonly renewEvery?: Duration
  /** How long running jobs may go on after `stop` (default 25 s). */
  readonly grace?: Duration
  /** How long after it was told to stop a handler is reported as stuck (default 10 s). */
  readonly stuckAfter?: Duration
  /** A job that was running at so many crashes is dead (default 3). */
  readonly crashesUntilDead?: number
  /** The largest payload, as JSON (default 1 MiB). */
  readonly payloadLimitBytes?: number
  /** Where log lines go: a level (default `warn`, on standard error), `silent`, or a logger of yours: console, pino, winston, a function. */
  readonly log?: LogOption
  /** Whether what handlers say with `log` goes there too, from its level up (default true). It is kept with the attempt either way. */
  readonly forwardJobLogs?: boolean
  /** Spans of what happens to jobs: `openTelemetry()` of jobmill/opentelemetry (default none). */
  readonly tracing?: Tracing
  /** How operators see this process. What is omitted comes from JOBMILL_WORKER_PREFIX, JOBMILL_WORKER_VERSION and JOBMILL_WORKER_ID. */
  readonly instance?: InstanceOptions
  /** Where JOBMILL_QUEUES and the parts of the label come from (default `process.env`). */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For tests: clocks, timers, chance and ids. */
  readonly platform?: Platform
}

const KEYS = [
  'store',
  'jobs',
  'queues',
  'limits',
  'schedules',
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
  readonly declared: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[]
  readonly limits: readonly DeclaredLimit[]
  readonly schedules: readonly PreparedSchedule[]
  /** Empty when there is none: then the mill can enqueue, and not start. */
  readonly serve: readonly string[]
  readonly instance: InstanceNames
  readonly queueOf: (kind: string) => string
  readonly middleware: readonly Middleware[]
  readonly duties: readonly ResolvedDuty[]
  /** Null: as many as its workers come to. */
  readonly capacity: number | null
  readonly retain: ResolvedRetain
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
  found.try('store', undefined, () => checkStore(options.store))
  const { env = process.env, platform = systemPlatform } = options
  const jobs = checkJobs(options.jobs ?? [], found)
  const queueOf = router(options.route, jobs, found)
  const goesTo = routed(jobs, queueOf, found)
  const named = servedQueues({ serve: options.serve, env, routed: goesTo }, found)
  const serve = withDeaths(named, jobs)
  const declared = queueSettings(options.queues ?? {}, found)
  const limits = declaredLimits(options.limits ?? {}, found)
  const payloadLimitBytes = whole(options, 'payloadLimitBytes', DEFAULTS.payloadLimitBytes, found)
  const schedules = declaredSchedules(options.schedules ?? [], { jobs, queueOf, payloadLimitBytes }, found)
  warnOfStrays(declared, [...serve, ...goesTo, ...schedules.map(({ definition }) => definition.queue)], found)
  checkQueueLimits(declared, limits, found)
  const instance = instanceNames(options.instance, env, found)
  return Object.freeze({
    jobs,
    declared,
    limits,
    schedules,
    serve,
    instance,
    queueOf,
    middleware: checkMiddleware(options.middleware ?? [], found),
    duties: ownDuties(options.duties ?? [], found),
    capacity: capacityOf(options.capacity, found),
    retain: retainOptions(options.retain ?? {}, found),
    ...leaseTimes(options, found),
    graceMs: duration(options, 'grace', DEFAULTS.graceMs, found),
    stuckAfterMs: duration(options, 'stuckAfter', DEFAULTS.stuckAfterMs, found),
    crashesUntilDead: whole(options, 'crashesUntilDead', DEFAULTS.crashesUntilDead, found),
    payloadLimitBytes,
    ...logOptions(options, found),
    tracing: found.try('tracing', null, () => checkTracing(options.tracing)),
    env,
    platform,
    problems: found.found,
  })
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

function capacityOf(capacity: number | undefined, found: Problems): number | null {
  if (capacity === undefined) return null
  return found.try('capacity', null, () => checkWhole(capacity, 'capacity', { ...BOUNDS.workers, least: 1 }))
}

/** On an older Node it would fail somewhere inside, and say nothing that helps. */
function checkNode(found: Problems): void {
  if ('withResolvers' in Promise) return
  found.add('error', 'STORE_UNSUPPORTED', 'node', `${process.version} is too old. Use Node 22.14 or newer`)
}

function checkStore(store: unknown): void {
  const isStore = typeof store === 'object' && store !== null && 'claim' in store && 'open' in store
  if (isStore) return
  throw new JobmillError('OPTION_INVALID', 'is not a store', {
    field: 'store',
    value: shown(store),
    fix: "Give sqlite('jobs.db') of jobmill/sqlite or postgres(url) of jobmill/postgres",
  })
}

function checkJobs(jobs: readonly unknown[], found: Problems): AnyJob[] {
  const seen = new Set<string>()
  return arrayOf(jobs, 'jobs', found).flatMap((job, at) => {
    const option = `jobs[${at}]`
    if (!isDefinition(job)) {
      found.add('error', 'OPTION_INVALID', option, 'is not a job. Wrap it in defineJob({ kind, run })')
      return []
    }
    for (const kind of job.onDead === undefined ? [job.kind] : [job.kind, onDeadKind(job.kind)]) {
      if (seen.has(kind))
        found.add('error', 'KIND_REPEATED', option, `another job has the kind "${kind}". Give each its own`)
      seen.add(kind)
    }
    return [job]
  })
}

function arrayOf(value: unknown, option: string, found: Problems): unknown[] {
  // A hole is something too: it is refused by its index.
  if (Array.isArray(value)) return Array.from(value as unknown[])
  found.add('error', 'OPTION_INVALID', option, `is not an array (got ${shown(value)}). Put it into one`)
  return []
}

function checkMiddleware(middleware: readonly unknown[], found: Problems): Middleware[] {
  return arrayOf(middleware, 'middleware', found).filter((one, at): one is Middleware => {
    if (typeof one === 'function') return true
    found.add('error', 'HANDLER_INVALID', `middleware[${at}]`, 'is not a function (context, next) => …')
    return false
  })
}

function leaseTimes(options: MillOptions, found: Problems): { leaseMs: number; renewEveryMs: number } {
  const leaseMs = duration(options, 'lease', DEFAULTS.instanceLeaseMs, found)
  const renewEveryMs = duration(options, 'renewEvery', DEFAULTS.renewEveryMs, found)
  if (leaseMs < 2 * renewEveryMs || leaseMs === 0) {
    const why = `${leaseMs} ms is shorter than two renewals of ${renewEveryMs} ms, so that one late renewal would lose every job`
    found.add('error', 'OPTION_CONFLICT', 'lease', `${why}. Raise lease or lower renewEvery`)
  }
  return { leaseMs, renewEveryMs }
}

function duration(
  options: MillOptions,
  option: 'lease' | 'renewEvery' | 'grace' | 'stuckAfter',
  otherwise: number,
  found: Problems,
): number {
  const value = options[option]
  return value === undefined ? otherwise : found.try(option, otherwise, () => durationMs(value, option))
}

function whole(
  options: MillOptions,
  option: 'crashesUntilDead' | 'payloadLimitBytes',
  otherwise: number,
  found: Problems,
): number {
  const value = options[option]
  const bounds = { least: 1, most: option === 'crashesUntilDead' ? 1_000 : Number.MAX_SAFE_INTEGER }
  return value === undefined
    ? otherwise
    : found.try(option, otherwise, () => checkWhole(value, option, bounds))
}

/** Whoever can run `onDead` serves the queue that it runs in, unless this process only enqueues. */
function withDeaths(serve: readonly string[], jobs: readonly AnyJob[]): readonly string[] {
  const isNeeded = serve.length > 0 && jobs.some(({ onDead }) => onDead !== undefined)
  return isNeeded ? [...new Set([...serve, ON_DEAD_QUEUE])] : serve
}
