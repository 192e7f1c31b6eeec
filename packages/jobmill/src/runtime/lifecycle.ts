/** Opens, starts and stops a mill, and keeps overlapping calls consistent. */
import type { InstanceInfo } from '../job/context.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError } from '../job/errors.ts'
import type { Results } from '../enqueue/results.ts'
import type { Emit } from '../job/events.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import type { Limits } from '../limits/limits.ts'
import type { Observer } from '../observe/observer.ts'
import { within } from '../platform/within.ts'
import type { FullStore } from '../store/store.ts'
import { type Grace, grace as createGrace, LAST_MS } from '../work/grace.ts'
import { isInsideHandler } from '../work/inside-handler.ts'
import type { StopReport } from '../work/stop-in-stages.ts'
import { declare } from './declare.ts'
import type { Engine } from './engine.ts'
import type { Resolved } from './options/options.ts'
import { millStopped, type Servers } from './stop-signal.ts'

export interface LifecycleOptions {
  readonly store: FullStore
  readonly options: Resolved
  readonly declares: boolean
  /** The identity of the current start. */
  readonly instance: InstanceInfo
  readonly emit: Emit
  readonly engine: () => Engine
  readonly results: Pick<Results, 'stop'>
  /** Rejects callers that wait for a limit outside of handlers. */
  readonly limits: Pick<Limits, 'stop'>
  /** Reports where the store differs from the options. */
  readonly differ: () => void
  /** Measures this process from its start, and writes the remaining metrics at its end. */
  readonly observer: Pick<Observer, 'start' | 'rest' | 'stop'>
  /** Resolves when listeners have received every event. */
  readonly delivered: () => Promise<void>
}

export interface StopOptions {
  /** How long running jobs may take to finish. Omitted: the option `grace` of the mill. */
  readonly grace?: Duration
  /**
   * Called once no job is running, and awaited before the store closes. Use it to close a server that uses
   * the mill.
   */
  readonly beforeClose?: () => Promise<unknown>
}

export type Lifecycle = ReturnType<typeof createLifecycle>

/** The number of mills in this process that have a store open. */
const users = new WeakMap<FullStore, number>()

const NOTHING: StopReport = Object.freeze({ finished: 0, returned: 0, interrupted: 0, tookMs: 0 })

export function createLifecycle(given: LifecycleOptions) {
  const { store, options, emit, results, observer, delivered, ...make } = given
  const { platform } = options
  const services = options.jobs.flatMap(({ service }) => (service === undefined ? [] : [service]))
  let engine: Engine | null = null
  let isOpen = false
  /** Whether this mill is counted in `users`. */
  let isUser = false
  // Until this fires, running jobs and other callers can still enqueue.
  const closing = new AbortController()
  const servers: Servers = new Set()
  /** Whether a caller other than the start has used the store. */
  let isUsed = false
  let opening: Promise<void> | null = null
  let starting: Promise<void> | null = null
  let stopping: Promise<StopReport> | null = null
  let grace: Grace | null = null

  /** A promise while the store is not open. Throws once the mill was stopped. */
  function open(): Promise<void> | undefined {
    isUsed = true
    return openOnce()
  }

  function openOnce(): Promise<void> | undefined {
    if (closing.signal.aborted) throw millStopped()
    if (isOpen) return undefined
    opening ??= openStore().then(
      async () => {
        // The stop did not wait for this open, and has closed the store.
        if (closing.signal.aborted) throw millStopped()
        isOpen = true
      },
      (error: unknown) => {
        opening = null
        throw closing.signal.aborted ? millStopped() : error
      },
    )
    return opening
  }

  async function openStore(): Promise<void> {
    users.set(store, (users.get(store) ?? 0) + 1)
    isUser = true
    try {
      await store.open()
      if (make.declares) await declare(store, options, 'all')
    } catch (error) {
      await letGo()
      throw error
    }
  }

  /** Two mills may share a store. The last one closes it, within what is left of the time of a stop. */
  async function letGo(limits?: Grace): Promise<void> {
    if (!isUser) return
    isUser = false
    const others = (users.get(store) ?? 1) - 1
    users.set(store, others)
    if (others > 0) return
    // The store aborts a hanging statement after a while. A stop does not wait for that.
    const close = store.close()
    const closed = limits?.lastly('the store', close) ?? within(platform, LAST_MS, 'the store', close)
    await closed.catch((error: unknown) => emit('store-failing', { part: 'close', error }))
  }

  async function begin(): Promise<void> {
    if (options.serve.length === 0) throw nothingToServe()
    const next = make.engine()
    try {
      await openOnce()
      await Promise.all(services.map((service) => service.start()))
      await next.start()
      if (closing.signal.aborted) throw millStopped()
      engine = next
      observer.start()
      make.differ()
      emit('mill-started', {
        instance: given.instance.id,
        label: given.instance.label,
        version: options.instance.version,
        queues: options.serve,
        kinds: options.jobs.map(({ kind }) => kind),
      })
    } catch (error) {
      // Undo as much as possible. A failure to undo must not hide the reason.
      const noGrace = createGrace(platform, 0)
      if (isOpen) await next.stop(noGrace).catch(() => {})
      noGrace.end()
      await Promise.allSettled(services.map((service) => service.stop()))
      // Other callers that enqueue still need the store.
      if (!isUsed || closing.signal.aborted) await close(noGrace)
      throw error
    }
  }

  async function close(limits: Grace): Promise<void> {
    observer.rest()
    // Also while the store is opening: an unanswered connection would keep the process alive.
    await letGo(limits)
    isOpen = false
    opening = null
  }

  /** Requests in flight still write: an acknowledged change needs its audit entry. */
  async function closeServers(limits: Grace): Promise<void> {
    if (servers.size === 0) return
    const closed = Promise.all(Array.from(servers, (close) => close()))
    await limits.lastly('the servers', closed).catch(() => {})
  }

  async function end(limits: Grace, beforeClose: StopOptions['beforeClose']): Promise<StopReport> {
    // Let a start in progress finish first, so that it leaves nothing behind. The grace period bounds this
    // wait. Closing the store then ends a start that is still waiting for the database.
    const begun = Promise.allSettled([starting, opening])
    await Promise.race([begun, limits.over])
    const beganAt = platform.monotonic()
    const ended = engine === null ? NOTHING : await engine.stop(limits)
    limits.end()
    await Promise.allSettled(services.map((service) => service.stop()))
    await beforeClose?.().catch((error: unknown) => emit('store-failing', { part: 'stop', error }))
    await closeServers(limits)
    closing.abort(millStopped())
    results.stop(millStopped())
    make.limits.stop(millStopped())
    const report = { ...ended, tookMs: platform.monotonic() - beganAt }
    if (engine !== null) emit('mill-stopped', report)
    if (isOpen)
      await limits
        .lastly('the last metrics', observer.stop())
        .catch((error: unknown) => emit('store-failing', { part: 'flush', error }))
    await close(limits)
    await delivered()
    return { ...ended, tookMs: platform.monotonic() - beganAt }
  }

  return {
    open,
    /** Fires when the mill accepts no more calls. */
    get stopped(): AbortSignal {
      return closing.signal
    },
    /** Servers that a stop closes before `stopped` fires. */
    servers,
    get engine(): Engine | null {
      return engine
    },
    /** Whether the store is open. */
    get isOpen() {
      return isOpen
    },
    /** Whether a start is in progress. */
    get isStarting() {
      return starting !== null && engine === null
    },
    /** Whether a stop was requested. */
    get isStopping() {
      return stopping !== null
    },
    start(): Promise<void> {
      if (stopping !== null) return Promise.reject(millStopped())
      starting ??= begin().catch((error: unknown) => {
        starting = null
        throw error
      })
      return starting
    },
    /** Rejects unless the mill was started. */
    async started(what: string): Promise<void> {
      if (stopping !== null) throw millStopped()
      if (starting === null)
        throw new JobmillError('MILL_NOT_STARTED', `${what} needs a started mill`, {
          fix: 'Call start() first',
        })
      await starting
    },
    stop: (how: StopOptions = {}): Promise<StopReport> => {
      checkObjectKeys(how, 'options', ['grace', 'beforeClose'])
      const graceMs = how.grace === undefined ? options.graceMs : durationMs(how.grace, 'options.grace')
      if (stopping === null) {
        grace = createGrace(platform, graceMs)
        if (engine !== null) emit('mill-stopping', { running: engine.running, graceMs })
        stopping = end(grace, how.beforeClose)
      } else if (how.grace !== undefined) grace?.shorten(graceMs)
      return isInsideHandler(given.instance.id) ? refusedInside() : stopping
    },
  }
}

/**
 * The stop continues. The promise has a handler, because a caller that does not await it must not cause an
 * unhandled rejection.
 */
function refusedInside(): Promise<never> {
  const what = 'must not be awaited inside a handler, because it waits for running handlers to end'
  const fix =
    'Use void mill.stop() instead of await, and return from the handler. The mill is already stopping'
  const refused = Promise.reject(new JobmillError('HANDLER_INVALID', what, { field: 'stop', fix }))
  refused.catch(() => {})
  return refused
}

function nothingToServe(): JobmillError {
  return new JobmillError('QUEUES_MISSING', 'no queue to serve', {
    field: 'serve',
    fix: "Pass jobs: [ … ] to jobmill(), or name queues with serve: ['default'] or JOBMILL_QUEUES=default. Remove start() if the process only enqueues. A process that only runs duties and schedules needs a queue too",
  })
}
