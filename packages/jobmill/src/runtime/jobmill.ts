/** `jobmill(options)`: creates the mill. */
import { client as createClient } from '../enqueue/client.ts'
import { enqueuer as createEnqueuer } from '../enqueue/enqueuer.ts'
import { jobHandle, openingHandle } from '../enqueue/job-handle.ts'
import { runApi } from '../enqueue/run.ts'
import { results as createResults } from '../enqueue/results.ts'
import type { InstanceInfo } from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import { checkName } from '../job/names.ts'
import { eventHub } from '../observe/event-hub.ts'
import { logEvents } from '../observe/log/log-events.ts'
import { observer as createObserver } from '../observe/observer.ts'
import { customMetrics } from '../observe/prometheus/custom-metrics.ts'
import { withAllParts } from '../store/absent-parts.ts'
import type { FullStore, Store, ToolStore, TxOf } from '../store/store.ts'
import { limits as createLimits } from '../limits/limits.ts'
import { createAlerting } from './alerts/alerting.ts'
import { audit } from './operate/audit.ts'
import { views } from './operate/views.ts'
import { bulk } from './operate/bulk/bulk.ts'
import { drift, withoutPayload } from './diagnose/config-drift.ts'
import { engine as createEngine } from './engine.ts'
import { enqueueInside } from './enqueue-inside.ts'
import { diagnostics } from './diagnose/diagnostics.ts'
import { handlersOf } from './handlers.ts'
import { instanceControl } from './operate/instances.ts'
import { kinds } from './operate/kinds.ts'
import { createLifecycle } from './lifecycle.ts'
import { errors } from './operate/errors/errors.ts'
import { hasGroupLimits } from '../job/queue/group-settings.ts'
import { groupsApi } from './operate/groups.ts'
import { limitsApi } from './operate/limits.ts'
import { listing } from './operate/list-jobs.ts'
import { keepLogger, warningLog } from './mill-logger.ts'
import { recentRuns } from './report/recent-runs.ts'
import { capacity } from './report/capacity.ts'
import { observation } from './report/observation.ts'
import { one, operate } from './operate/operate.ts'
import { type MillOptions, resolveOptions } from './options/options.ts'
import { overridesApi } from './operate/overrides.ts'
import { type Problem, problems, throwErrors } from './options/problems.ts'
import { prometheus } from './report/prometheus.ts'
import { queueSettings } from './options/queue-options.ts'
import { readiness } from './diagnose/readiness.ts'
import { schedulesApi } from './operate/schedules.ts'
import { ownsSignals, raiseStopSignal } from './stop-on-signals.ts'
import { keepStopSignal } from './stop-signal.ts'
import { databaseResources, resources } from './report/resources.ts'
import { stepsApi } from './operate/steps.ts'
import { prepareChildren } from './prepare-children.ts'
import { system } from './report/system.ts'
import type { MillTools } from './tools.ts'
import { dutyControl } from './operate/duty-control.ts'
import { explain } from './diagnose/why.ts'
import type { Mill } from './mill.ts'

/** The leader of this duty samples the gauges of queues and limits, because it aggregates metrics anyway. */
const SAMPLING = 'roll-up'

/** Returns all errors and warnings in the options without creating a mill. */
export function checkOptions(options: MillOptions): readonly Problem[] {
  return resolveOptions(options).problems
}

/** `declares: false` is for tools, whose config may belong to another release than the running processes. */
export function jobmill<
  S extends Store<never>,
  Inputs extends readonly unknown[] = readonly never[],
  Context = unknown,
>(
  given: MillOptions<S, Inputs, Context>,
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
  const logWarnings = warningLog(options)
  // The return type lets callers pass exactly the transactions that the store accepts.
  const plain: FullStore = withAllParts(given.store, platform)
  const observer = createObserver({
    hub,
    store: plain,
    platform,
    get instance() {
      return instance.id
    },
    version: options.instance.version,
    isOpen: () => lifecycle.isOpen,
    samples: () => lifecycle.engine?.leads(SAMPLING) ?? false,
    movedAt: () => lifecycle.engine?.movedAt() ?? Infinity,
  })
  const { store } = observer
  const opened = async (): Promise<FullStore> => (await lifecycle.open(), store)
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
  /** Returns the handle of a job that is not written yet. */
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
    queues: options.queuesInCode,
    queueOf: options.queueOf,
    payloadLimitBytes: options.payloadLimitBytes,
    open: () => lifecycle.open(),
    lineGrew: () => lifecycle.engine?.stageSoon(),
    hasGroupLimits: (queue) => hasGroupLimits(lifecycle.engine?.settings(queue)),
    written: (queues) => lifecycle.engine?.look(queues),
  })
  const alerting = createAlerting({
    opened,
    platform,
    enqueue: (job, items) => client.enqueueMany(job, items),
    label: () => instance.label,
    engine: () => lifecycle.engine,
    diagnostics: () => mill.diagnostics(),
  })
  const handlers = handlersOf(options.jobs, [alerting.job], {
    platform,
    store,
    noticeLostLease: () => lifecycle.engine?.noticeLostLease(),
  })
  const lifecycle = createLifecycle({
    // Not the timed store: two mills that share a store must recognize it as the same object.
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
        .then((all) => all.forEach((each) => hub.emit('settings-differ', withoutPayload(each))))
        // Ignored here: the next call reports the error.
        .catch(() => {}),
    delivered: hub.delivered,
    engine() {
      // Each start is a new instance: the cleanup of a failed start may arrive after the next start
      // succeeded.
      if (starts > 0) instance = newInstance()
      starts += 1
      return createEngine({
        store,
        options,
        handlers,
        instance,
        version: options.instance.version,
        emit: hub.emit,
        enqueueFor: (attempt) => enqueueInside(attempt, client, lateHandle, store.callLimitBytes),
        prepareJobs: prepareChildren(client.prepare, definitions, store),
        jobEnded: results.ended,
        flush: observer,
        alert: alerting.pass,
        limits,
        stopRequested(by) {
          // Raises SIGTERM, so that everything that listens to the signal stops too. The event comes first,
          // while the mill still works.
          const endsProcess = ownsSignals()
          hub.emit('stop-requested', { instance: instance.id, by, endsProcess })
          if (endsProcess) raiseStopSignal()
          else void lifecycle.stop()
        },
      })
    },
  })
  const { prepare: _prepare, takeUnnotified, ...enqueue } = client
  const tools: MillTools = {
    opened,
    store,
    options,
    platform,
    emit: hub.emit,
    lifecycle,
    observer,
    instance: () => instance,
    by: () => instance.label ?? 'application',
    wake: () => lifecycle.engine?.scheduleSoon(),
    definition: (kind) => definitions.get(kind),
    forget: results.forget,
    storeTools: (plain as Partial<Pick<ToolStore, 'tools'>>).tools ?? null,
  }
  const own = customMetrics(platform)
  const readDatabase = databaseResources(tools)
  const mill: Mill = {
    ...enqueue,
    ...operate(tools),
    ...runApi({ client, cancel: (id, how) => mill.cancel(id, how) }),
    ...listing(tools),
    ...bulk(tools),
    ...audit(tools),
    ...views(tools),
    ...explain(tools),
    ...errors(tools),
    ...readiness(tools),
    ...dutyControl(tools),
    ...instanceControl(tools),
    ...diagnostics(tools, () => mill),
    ...kinds(tools),
    ...stepsApi(tools, { prepareJobs: client.prepare, handle: lateHandle }),
    ...system(tools, () => mill.duties()),
    ...resources(tools, readDatabase),
    ...observation(tools),
    ...capacity(platform, () => mill),
    ...recentRuns(tools),
    ...limitsApi(tools, limits),
    ...groupsApi(tools),
    ...overridesApi(tools),
    ...own.metrics,
    schedules: schedulesApi(tools, async (job) =>
      one(await enqueuer.write([job], { tx: undefined, mayRepeat: true })),
    ),
    alerts: alerting.alerts,
    drift: async () => drift(await opened(), options),
    prometheus: prometheus({
      ...tools,
      events: hub.counts,
      own,
      store: plain.name,
      resources: readDatabase,
    }),
    open: async () => lifecycle.open(),
    start() {
      // Before the start, because a warning may explain why it fails.
      logWarnings('before')
      const started = lifecycle.start()
      // The caller handles the error: it gets the same promise.
      started.then(
        () => logWarnings('after'),
        () => {},
      )
      return started
    },
    stop: lifecycle.stop,
    job: (target: JobKind | string, job?: string) =>
      openingHandle(jobHandle(typeof target === 'string' ? target : (job ?? ''), handles), () =>
        lifecycle.open(),
      ),
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
      if (lifecycle.engine === null) store.notifier.notify(queues)
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
  keepLogger(mill, options.logger)
  keepStopSignal(mill, lifecycle)
  return mill
}
