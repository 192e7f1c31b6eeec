/** `jobmill(options)`: the one object that a user holds. */
import { type Client, client as createClient } from '../enqueue/client.ts'
import { enqueuer as createEnqueuer } from '../enqueue/enqueuer.ts'
import { jobHandle } from '../enqueue/job-handle.ts'
import { results as createResults } from '../enqueue/results.ts'
import type { InstanceInfo } from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { JobDefinition } from '../job/definition.ts'
import type { EventType } from '../job/events.ts'
import type { JobHandle } from '../job/handle.ts'
import { checkName } from '../job/names.ts'
import { type EventCounts, eventHub, type Listener } from '../observe/event-hub.ts'
import { logEvents } from '../observe/log-events.ts'
import { observer as createObserver } from '../observe/observer.ts'
import { type CustomMetrics, customMetrics } from '../observe/prometheus/custom-metrics.ts'
import type { Store, ToolStore, TxOf } from '../store/store.ts'
import { limits as createLimits } from '../limits/limits.ts'
import { type Audit, audit } from './audit.ts'
import { type Bulk, bulk } from './bulk.ts'
import { type ConfigDrift, drift } from './config-drift.ts'
import { engine as createEngine } from './engine.ts'
import { enqueueInside } from './enqueue-inside.ts'
import { type Diagnostics, diagnostics } from './diagnostics.ts'
import { handlersOf } from './handlers.ts'
import { type Kinds, kinds } from './kinds.ts'
import { createLifecycle, type StopOptions } from './lifecycle.ts'
import { type Errors, errors } from './errors.ts'
import { type Limiting, limitsApi } from './limits.ts'
import { type Listing, listing } from './list-jobs.ts'
import { type Observation, observation } from './observation.ts'
import { one, type Operate, operate, type OperateTools } from './operate.ts'
import { type MillOptions, resolveOptions } from './options.ts'
import { type OverridesApi, overridesApi } from './overrides.ts'
import { type Problem, problems, throwErrors } from './problems.ts'
import { prometheus } from './prometheus.ts'
import { type QueueOptions, queueSettings } from './queue-options.ts'
import { type Readiness, readiness } from './readiness.ts'
import { type Schedules, schedulesApi } from './schedules.ts'
import type { StopReport } from '../work/stop-in-stages.ts'
import { databaseResources, type ResourceReads, resources } from './resources.ts'
import { type System, system } from './system.ts'
import { type DutyControl, dutyControl } from './duty-control.ts'
import { type Explain, explain } from './why.ts'

export interface Mill<Tx = unknown>
  extends
    Omit<Client<Tx>, 'prepare' | 'takeUnnotified'>,
    Operate,
    Listing,
    Explain,
    DutyControl,
    Observation,
    Errors,
    Limiting,
    Diagnostics,
    OverridesApi,
    Kinds,
    CustomMetrics,
    System,
    ResourceReads {
  /** Opens the store without working: for a process that only enqueues. Every verb does it by itself when it is the first. */
  open(): Promise<void>
  /** Opens the store, makes this process known and begins to work. Twice is once. A start that fails undoes what it began. */
  start(): Promise<void>
  /**
   * Claims nothing more, lets what runs go on for the grace (default 25 s), hands the rest back without a lost attempt, and closes the store. Called again,
   * it can only make the grace shorter.
   */
  stop(options?: StopOptions): Promise<StopReport>
  /** A job by its id, to wait for: of any process. With its definition, the result has its type. */
  job(id: string): JobHandle
  job<Result>(definition: JobDefinition<never, Result>, id: string): JobHandle<Result>
  /** Works on one more queue from now on. With settings, they count as those of the option `queues` do. */
  serve(queue: string, settings?: QueueOptions): Promise<void>
  /** Looks for work at once: after the commit of a transaction of yours that enqueued something. */
  wake(): void
  /** One act on every job that a filter finds. */
  readonly bulk: Bulk
  /** Who changed what by hand. */
  readonly audit: Audit
  /** Whether this process can do its work, for whoever decides to send it some. Never rejects. */
  readonly readiness: () => Promise<Readiness>
  /** Everything about schedules at run time. */
  readonly schedules: Schedules
  /** Where what counts in the store differs from what the options of this process say. */
  drift(): Promise<ConfigDrift[]>
  /**
   * What this process counted since its start, and how queues, limits, instances and duties stand, in the text format of Prometheus (0.0.4), with the figures
   * that `counter`, `gauge` and `histogram` registered. Never rejects: without the store it tells what the process knows.
   */
  prometheus(): Promise<string>
  /** Hears what happens here. Listeners cannot slow the work down or break it. Returns what ends it. */
  readonly on: <Type extends EventType>(type: Type | '*', listener: Listener<Type>) => () => void
  /** As which this process is known to others: another one when it is started again after a start that failed. */
  readonly instance: InstanceInfo
  readonly queuesServed: readonly string[]
  /** Never with a password. */
  readonly storeName: string
  /** What looks odd in the options, though it works. */
  readonly warnings: readonly Problem[]
  readonly eventCounts: EventCounts
}

/** Whoever leads this duty samples for all how queues and limits stand: it brings figures together anyway. */
const SAMPLING = 'roll-up'

/** Everything that is wrong with the options, and what looks odd, without making a mill. */
export function checkOptions(options: MillOptions): readonly Problem[] {
  return resolveOptions(options).problems
}

/** `declares: false` is for tools: their config may belong to another release than the processes that work. */
export function jobmill<S extends Store<never>, Inputs extends readonly unknown[] = readonly never[]>(
  given: MillOptions<S, Inputs>,
  { declares = true }: { readonly declares?: boolean } = {},
): Mill<TxOf<S>> {
  const options = resolveOptions(given as MillOptions<S>)
  throwErrors(options.problems)
  const { platform } = options
  const newInstance = (): InstanceInfo => {
    const id = platform.id()
    return Object.freeze({ id, label: options.instance.labelOf(id) })
  }
  let instance = newInstance()
  let starts = 0
  const hub = eventHub(platform)
  if (options.logger !== null) logEvents(hub, options.logger)
  // Whatever the store accepts as a transaction is what the type of the answer lets a caller pass.
  const plain: Store = given.store
  const observer = createObserver({
    hub,
    store: plain,
    platform,
    get instance() {
      return instance.id
    },
    isOpen: () => lifecycle.isOpen,
    samples: () => lifecycle.engine?.leads(SAMPLING) ?? false,
    movedAt: () => lifecycle.engine?.movedAt() ?? Infinity,
  })
  const { store } = observer
  const opened = async (): Promise<Store> => (await lifecycle.open(), store)
  const limits = createLimits({
    opened,
    platform,
    get instance() {
      return instance.id
    },
    started: (what) => lifecycle.started(what),
    emit: hub.emit,
    drew: observer.drew,
  })

  const results = createResults((ids) => store.results(ids), { platform, everyMs: DEFAULTS.resultEveryMs })
  const handles = { results, platform }
  /** Of a job that is not written yet. */
  const lateHandle = (job: string) => jobHandle<never>(job, handles, true)
  const definitions = new Map(options.jobs.map((job) => [job.kind, job]))
  const enqueuer = createEnqueuer(store, {
    payloadLimitBytes: options.payloadLimitBytes,
    platform,
    offer: (jobs) => lifecycle.engine?.offer(jobs),
  })
  const client = createClient<unknown>({
    enqueuer,
    results,
    platform,
    emit: hub.emit,
    tracing: options.tracing,
    definition: (kind) => definitions.get(kind),
    kinds: [...definitions.keys()],
    queueOf: options.queueOf,
    payloadLimitBytes: options.payloadLimitBytes,
    open: () => lifecycle.open(),
    lineGrew: () => lifecycle.engine?.stageSoon(),
    written: (queues) => lifecycle.engine?.look(queues),
  })
  const handlers = handlersOf(options.jobs, store)
  const lifecycle = createLifecycle({
    // Not the timed one: two mills that share a store must know that it is one.
    store: plain,
    options,
    declares,
    emit: hub.emit,
    get instance() {
      return instance
    },
    results,
    limits,
    observer,
    differ: () =>
      void drift(store, options)
        .then((all) => all.forEach((each) => hub.emit('settings-differ', each)))
        // Not worth a word: whoever asks again learns it.
        .catch(() => {}),
    delivered: hub.delivered,
    engine() {
      // One start is one instance: what a start that failed sent to undo itself may arrive when the next one works already.
      if (starts > 0) instance = newInstance()
      starts += 1
      return createEngine({
        store,
        options,
        handlers,
        instance,
        version: options.instance.version,
        emit: hub.emit,
        enqueueFor: (attempt) => enqueueInside(attempt, client, lateHandle),
        jobEnded: results.ended,
        flush: observer,
        limits,
      })
    },
  })
  const { prepare: _prepare, takeUnnotified, ...enqueue } = client
  const by = (): string => instance.label ?? 'application'
  const operating: OperateTools = {
    opened,
    cancelledHere: (job, reason) => lifecycle.engine?.cancelled(job, reason),
    emit: hub.emit,
    forget: results.forget,
    kindTimeoutMs: (kind) => definitions.get(kind)?.timeoutMs ?? null,
    by,
  }
  const tending = dutyControl({
    opened,
    started: lifecycle.started,
    engine: () => lifecycle.engine,
    options,
    emit: hub.emit,
  })
  const { tools = null } = plain as Partial<Pick<ToolStore, 'tools'>>
  const own = customMetrics(platform)
  const readDatabase = databaseResources({ opened, platform, tools })
  const mill: Mill = {
    ...enqueue,
    ...operate(operating),
    ...listing({ opened }),
    ...bulk(operating),
    ...audit({ opened, platform }),
    ...explain({ opened }),
    ...errors({ opened }),
    ...readiness({ opened, platform, engine: () => lifecycle.engine, lifecycle }),
    ...tending,
    ...diagnostics({ mill: () => mill, options, tools }),
    ...kinds({ opened, jobs: options.jobs, queueOf: options.queueOf }),
    ...system({ opened, options, duties: () => tending.duties(), instance: () => instance.id, tools }),
    ...resources({ platform, observer }, readDatabase),
    ...observation({ opened, platform }),
    ...limitsApi({ opened, limits, by }),
    ...overridesApi({ opened, wake: () => lifecycle.engine?.scheduleSoon() }),
    ...own.metrics,
    schedules: schedulesApi({
      opened,
      platform,
      emit: hub.emit,
      definition: (kind) => definitions.get(kind),
      queueOf: options.queueOf,
      payloadLimitBytes: options.payloadLimitBytes,
      enqueue: async (job) => one(await enqueuer.write([job], { tx: undefined, mayRepeat: true })),
      wake: () => lifecycle.engine?.scheduleSoon(),
      by,
    }),
    drift: async () => drift(await opened(), options),
    prometheus: prometheus({
      opened,
      platform,
      observer,
      events: hub.counts,
      own,
      engine: () => lifecycle.engine,
      served: () => mill.queuesServed,
      instance: () => instance,
      version: options.instance.version,
      store: plain.name,
      resources: readDatabase,
    }),
    open: async () => lifecycle.open(),
    start: lifecycle.start,
    stop: lifecycle.stop,
    job: (target: JobDefinition | string, job?: string) =>
      opening(jobHandle<never>(typeof target === 'string' ? target : (job ?? ''), handles)),
    async serve(queue, settings) {
      const found = problems()
      const [declared] = queueSettings(
        { [checkName(queue, 'queue')]: settings === undefined ? {} : settings },
        found,
      )
      throwErrors(found.found)
      await lifecycle.started('serve')
      await lifecycle.engine?.serve(queue, settings === undefined ? null : (declared?.settings ?? null))
    },
    wake() {
      const queues = takeUnnotified()
      if (lifecycle.engine === null) store.notify(queues)
      else lifecycle.engine.wake(queues)
    },
    on: hub.on,
    get instance() {
      return instance
    },
    get queuesServed() {
      return [...(lifecycle.engine?.served ?? options.serve)]
    },
    storeName: plain.name,
    warnings: options.problems,
    eventCounts: hub.counts,
  }
  /** A handle whose first use opens the store. */
  function opening(handle: JobHandle<never>): JobHandle<never> {
    return {
      id: handle.id,
      async result(how) {
        await lifecycle.open()
        return handle.result(how)
      },
    }
  }
  return mill
}
