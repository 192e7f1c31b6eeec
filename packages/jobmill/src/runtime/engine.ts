/**
 * Wires together everything that runs between start and stop: heartbeat, dispatcher, workers, live settings
 * and duties.
 */
import { dispatcher as createDispatcher } from '../dispatch/dispatcher.ts'
import { ALERT_KIND } from '../job/alert/rule.ts'
import type { InstanceInfo } from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import type { QueueSettings } from '../job/queue/queue-settings.ts'
import { trouble } from '../job/attempt/trouble.ts'
import type { Heartbeat, InstanceRequest } from '../store/types/instance.ts'
import type { FullStore } from '../store/store.ts'
import type { Grace } from '../work/grace.ts'
import type { Handler } from '../work/handler.ts'
import { listen } from '../work/heartbeat/listen.ts'
import type { ContextTools } from '../work/make-context.ts'
import { heartbeatService } from '../work/heartbeat/heartbeat.ts'
import type { StopReport } from '../work/stop-in-stages.ts'
import type { PrepareJobs } from '../work/steps/child-steps.ts'
import { workers as createWorkers } from '../work/workers.ts'
import type { Limits } from '../limits/limits.ts'
import { ALERT_QUEUE } from './alerts/alert-job.ts'
import { declare, declareServed } from './declare.ts'
import { followedKinds, handlerFor, kindDefaults, storedKinds } from './handlers.ts'
import { limitFor } from './operate/limits.ts'
import type { Resolved } from './options/options.ts'
import { queueWatch } from './queue-watch.ts'
import { upkeep as createUpkeep, type UpkeepOptions } from './upkeep.ts'
import { afterCommit, type AfterCommitOptions } from './after-commit.ts'

interface EngineOptions {
  readonly store: FullStore
  readonly options: Resolved
  readonly handlers: ReadonlyMap<string, Handler>
  readonly instance: InstanceInfo
  readonly version: string | null
  readonly emit: Emit
  readonly enqueueFor: ContextTools['enqueueFor']
  readonly prepareJobs: PrepareJobs
  /** A job ended in this process, so callers that await it need no query. */
  readonly jobEnded: AfterCommitOptions['jobEnded']
  readonly flush: UpkeepOptions['flush']
  readonly alert: UpkeepOptions['alert']
  readonly limits: Limits
  readonly stopRequested: (by: string) => void
}

export type Engine = ReturnType<typeof engine>

export function engine(given: EngineOptions) {
  const { store, options, handlers, instance, emit } = given
  const { platform, leaseMs, renewEveryMs } = options
  // A process runs the jobs that send alerts only while it leads the duty `alert` and there is a rule.
  const kinds = storedKinds(handlers).filter((kind) => kind !== ALERT_KIND)
  const served = [...options.serve]

  const dispatcher = createDispatcher({
    store,
    instance: instance.id,
    kinds,
    capacity: options.capacity,
    emit,
    platform,
  })
  const { post } = dispatcher
  const wake = (queues: Iterable<string> | null): void => post({ type: 'jobsReady', queues })
  const reading = trouble('settings', emit)
  let requested: InstanceRequest | null = null
  const watch = queueWatch({
    me: instance.id,
    store,
    served: () => served,
    platform,
    emit,
    changed: (settings) => post({ type: 'settingsChanged', settings }),
    ...reading,
  })
  const upkeep = createUpkeep({
    store,
    options,
    emit,
    staged: wake,
    reaped: () => wake(null),
    mayReap: () => heartbeat.isSteady,
    listen: (signal, works) =>
      listen(
        {
          notifier: store.notifier,
          // Requests of operators are announced under the id of the instance.
          queues: () => [...served, instance.id],
          wasWoken(wakeUps) {
            heartbeat.wake(platform.monotonic())
            // An operator requested something of this instance.
            if (wakeUps.some(({ queue }) => queue === instance.id)) heartbeat.hurry()
            post({ type: 'notified', wakeUps: wakeUps.filter(({ queue }) => queue !== instance.id) })
          },
          lost: () => heartbeat.wake(platform.monotonic()),
          works,
        },
        signal,
      ),
    flush: given.flush,
    alert: given.alert,
  })
  const workers = createWorkers({
    ...options,
    store,
    instance,
    version: given.version,
    handler: (kind) => handlerFor(handlers, kind),
    settings: watch.settings,
    emit,
    enqueueFor: given.enqueueFor,
    prepareJobs: given.prepareJobs,
    holdsPermit: ({ lease }) => given.limits.holdsPermit(lease),
    limitFor: (attempt) => limitFor(attempt, given.limits, watch.settings),
    freed: (queue) => post({ type: 'workerFreed', queue }),
    settled: dispatcher.settled,
    noticeLostLease: () => heartbeat.noticeEnd(),
    written: afterCommit({
      settings: watch.settings,
      served: () => served,
      limits: given.limits,
      jobEnded: given.jobEnded,
      jobFinished: ({ queue, kind }, ranMs) => dispatcher.finished({ queue, kind, ranMs }),
      settingsChanged: () => void watch.refresh().then(reading.working, reading.failing),
      stageSoon: upkeep.stageSoon,
      wake,
      emit,
    }),
  })
  const { attempts } = workers
  const heartbeat = heartbeatService({
    renew: (request) => store.instances.renew({ ...request, instance: instance.id, kinds }),
    register: registerAgain,
    // Nothing can be claimed from a queue without workers.
    queues: () => served.filter((queue) => (watch.workers().get(queue) ?? 0) > 0),
    duties: upkeep.bids,
    onHeartbeat,
    renewed: (until) => post({ type: 'leaseRenewed', until }),
    lost(blocked) {
      upkeep.lost()
      post({ type: 'leaseLost' })
      emit('instance-lost', { instance: instance.id, jobs: workers.lost(blocked), blocked })
    },
    back: () => emit('instance-back', { instance: instance.id }),
    leaseMs,
    renewEveryMs,
    everyMs: Math.min(DEFAULTS.heartbeatEveryMs, renewEveryMs),
    idle: {
      everyMs: Math.min(DEFAULTS.idleHeartbeatEveryMs, leaseMs / 4, renewEveryMs),
      isIdle: () => store.notifier.isListening?.() === true && dispatcher.isIdle(),
    },
    platform,
    ...trouble('heartbeat', emit),
  })

  async function register(stoodStill = false): Promise<void> {
    await store.instances.register({
      ...instance,
      version: given.version,
      queues: served,
      kinds,
      ...followedKinds(handlers),
      kindDefaults: kindDefaults(options),
      capacity: options.capacity ?? DEFAULTS.capacity,
      leaseMs,
      ...(stoodStill && { stoodStill }),
    })
  }

  /** The database does not know this instance: it was reaped, or a backup without it was restored. */
  async function registerAgain(stoodStill: boolean): Promise<void> {
    await declare(store, options, 'missing')
    await declareServed(store, served)
    await register(stoodStill)
    await watch.refresh()
  }

  async function serve(queue: string, settings: Partial<QueueSettings> | null): Promise<void> {
    await store.queues.declare([{ name: queue, settings }])
    if (!served.includes(queue)) served.push(queue)
    await watch.refresh()
    await register()
    // Interrupts the wait for notifications, which covers only the previous queues.
    store.notifier.notify(served)
    wake(null)
  }

  function onHeartbeat(now: Heartbeat): void {
    if (now.cancels.length > 0) post({ type: 'cancelled', ids: now.cancels.map(({ id }) => id) })
    workers.onHeartbeat(now.cancels)
    watch.onHeartbeat(now)
    post({ type: 'heartbeat', ready: now.ready, quarantined: now.quarantined })
    upkeep.onHeartbeat(now)
    if (now.alive) follow(now)
  }

  /** Follows the request of an operator, once. */
  function follow({ requested: next, requestedBy }: Heartbeat): void {
    if (next === requested) return
    requested = next
    const by = requestedBy ?? 'unknown'
    watch.quiet(next !== null)
    const quieted = dispatcher.quiet(next !== null)
    const { id } = instance
    if (next === 'stop') return given.stopRequested(by)
    void quieted.then(() => {
      const running = attempts.running()
      // Another request may have replaced this one.
      if (requested !== next) return
      if (next === null) emit('mill-resumed', { instance: id, running })
      else emit('mill-quiet', { instance: id, by, running })
    })
  }

  return {
    served: served as readonly string[],
    /** The number of running handlers. */
    get running() {
      return attempts.running()
    },
    /** Whether the lease of this instance is valid. */
    get alive() {
      return heartbeat.alive
    },
    /** The workers of this instance for each queue it serves, and how many of them are busy. */
    workers: () =>
      [...watch.workers()].map(([queue, own]) => ({ queue, workers: own, busy: attempts.running(queue) })),
    duties: upkeep.status,
    /** When jobs last changed in any process, as far as this process knows. */
    movedAt: upkeep.movedAt,
    /** Whether this instance leads a duty. */
    leads: (name: string) => upkeep.status().some((one) => one.name === name && one.leading),
    runDuty: upkeep.run,
    noticeLostLease: () => heartbeat.noticeEnd(),
    /** These queues may have ready jobs. */
    look(queues: Iterable<string>) {
      const here = [...queues].filter((queue) => served.includes(queue))
      if (here.length > 0) wake(here)
    },
    /** An order queue got a new job. */
    stageSoon: upkeep.stageSoon,
    settings: watch.settings,
    scheduleSoon: upkeep.scheduleSoon,
    alertSoon: upkeep.alertSoon,
    /** Offers free workers for jobs that this process is about to write. */
    offer: dispatcher.offer,
    /** A cancel was requested in this process. The signal fires before this returns. */
    cancelled(id: string, reason: string) {
      post({ type: 'cancelled', ids: [id] })
      workers.cancelled(id, reason)
    },
    /** Wakes the workers of these queues here, and notifies the other instances that serve them. */
    wake(queues: readonly string[]) {
      store.notifier.notify([...served, ...queues])
      wake(null)
      heartbeat.hurry()
    },
    serve,
    /** Runs the jobs that send alerts from now on. */
    async serveAlerts() {
      if (kinds.includes(ALERT_KIND) && served.includes(ALERT_QUEUE)) return
      if (!kinds.includes(ALERT_KIND)) kinds.push(ALERT_KIND)
      post({ type: 'kindAdded', kind: ALERT_KIND })
      await serve(ALERT_QUEUE, null)
    },
    async start() {
      await declareServed(store, served)
      const sentAt = platform.monotonic()
      await register()
      // Reads the members including this instance, so that a new process takes its share and never all
      // workers.
      await watch.refresh()
      heartbeat.start(sentAt)
      dispatcher.start({
        run(lease, waitedMs, now) {
          heartbeat.wake(now)
          workers.run(lease, waitedMs, now)
        },
        release: workers.release,
        leases: () => Array.from(attempts.live, ({ lease }) => lease),
        hurryHeartbeat: () => heartbeat.hurry(),
      })
      await upkeep.start()
    },
    async stop(grace: Grace): Promise<StopReport> {
      const report = await workers.stop(grace, () => dispatcher.stop())
      dispatcher.close()
      watch.stop()
      const { failing } = trouble('stop', emit)
      const lastly = (what: string, work: Promise<unknown>): Promise<unknown> =>
        grace.lastly(what, work).catch(failing)
      await lastly('stopping duties', Promise.all([upkeep.stop(), heartbeat.stop()]))
      await lastly('deregister', store.instances.deregister(instance.id))
      return report
    },
  }
}
