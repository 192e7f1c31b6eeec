/** Opening, starting and stopping a mill, however the calls overlap. */
import type { InstanceInfo } from '../job/context.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { within } from '../platform/within.ts'
import type { Store } from '../store/store.ts'
import { type Grace, grace as createGrace } from '../work/grace.ts'
import { isInsideHandler } from '../work/inside-handler.ts'
import { LAST_MS, type StopReport } from '../work/stop-in-stages.ts'
import { declare } from './declare.ts'
import type { Engine } from './engine.ts'
import type { Resolved } from './options.ts'

export interface LifecycleOptions {
  readonly store: Store
  readonly options: Resolved
  readonly declares: boolean
  /** As which it is started now. */
  readonly instance: InstanceInfo
  readonly emit: Emit
  readonly engine: () => Engine
  readonly results: { stop(error: unknown): void }
  /** Whoever waits for a limit outside of handlers waits no longer. */
  readonly limits: { readonly stop: (error: unknown) => void }
  /** Tells where the store differs from the options. */
  readonly differ: () => void
  /** Measures this process from the start on, and writes what is left at the end. */
  readonly observer: {
    readonly start: () => void
    readonly rest: () => void
    readonly stop: () => Promise<void>
  }
  /** Resolves when listeners have heard everything. */
  readonly delivered: () => Promise<void>
}

export interface StopOptions {
  /** How long what runs may go on (default 25 s). */
  readonly grace?: Duration
  /** Called once nothing runs any more, and waited for before the store is closed: the end of a server that uses the mill, for example. */
  readonly beforeClose?: () => Promise<unknown>
}

export interface Lifecycle {
  /** A promise while the store is not open; throws once the mill was stopped. */
  readonly open: () => Promise<void> | undefined
  readonly start: () => Promise<void>
  readonly stop: (options?: StopOptions) => Promise<StopReport>
  /** Rejects unless the mill was started. */
  readonly started: (what: string) => Promise<void>
  readonly engine: Engine | null
  /** Whether the store is open. */
  readonly isOpen: boolean
  /** Whether a start is under way. */
  readonly isStarting: boolean
  /** Whether a stop was asked for. */
  readonly isStopping: boolean
}

/** How many mills of this process have a store open. */
const users = new WeakMap<Store, number>()

const NOTHING: StopReport = Object.freeze({ finished: 0, handedBack: 0, interrupted: 0, tookMs: 0 })

export function createLifecycle(given: LifecycleOptions): Lifecycle {
  const { store, options, emit, results, observer, delivered, ...make } = given
  const { platform } = options
  let engine: Engine | null = null
  let isOpen = false
  // Until then what runs, and whoever else, may still enqueue.
  let isClosing = false
  /** Somebody else than the start has asked for the store. */
  let isUsed = false
  let opening: Promise<void> | null = null
  let starting: Promise<void> | null = null
  let stopping: Promise<StopReport> | null = null
  let grace: Grace | null = null

  function open(): Promise<void> | undefined {
    isUsed = true
    return openOnce()
  }

  function openOnce(): Promise<void> | undefined {
    if (isClosing) throw stopped()
    if (isOpen) return undefined
    opening ??= openStore().then(
      async () => {
        // A stop did not wait for it: the database has answered after its grace was over.
        if (isClosing) {
          await letGo()
          throw stopped()
        }
        isOpen = true
      },
      (error: unknown) => {
        opening = null
        throw error
      },
    )
    return opening
  }

  async function openStore(): Promise<void> {
    users.set(store, (users.get(store) ?? 0) + 1)
    try {
      await store.open()
      if (make.declares) await declare(store, options, 'all')
    } catch (error) {
      await letGo()
      throw error
    }
  }

  /** Two mills may share a store; the last one closes it. */
  async function letGo(): Promise<void> {
    const others = (users.get(store) ?? 1) - 1
    users.set(store, others)
    if (others > 0) return
    // A statement that hangs is given up by the store itself, after a while; a stop does not wait for that.
    const closing = within(platform, LAST_MS, 'the store', store.close())
    await closing.catch((error: unknown) => emit('store-failing', { part: 'close', error }))
  }

  async function begin(): Promise<void> {
    if (options.serve.length === 0) throw nothingToServe()
    const services = options.jobs.flatMap(({ service }) => (service === undefined ? [] : [service]))
    const next = make.engine()
    try {
      await openOnce()
      await Promise.all(services.map((service) => service.start()))
      await next.start()
      if (isClosing) throw stopped()
      engine = next
      observer.start()
      make.differ()
      emit('mill-started', {
        instance: given.instance.id,
        queues: options.serve,
        kinds: options.jobs.map(({ kind }) => kind),
      })
    } catch (error) {
      // Undone as far as it got; what cannot be undone is not worth hiding the reason for.
      const noGrace = createGrace(platform, 0)
      if (isOpen) await next.stop(noGrace).catch(() => {})
      await Promise.allSettled(services.map((service) => service.stop()))
      // Whoever enqueues meanwhile still needs it.
      if (!isUsed || isClosing) await close()
      throw error
    }
  }

  async function close(): Promise<void> {
    observer.rest()
    if (isOpen) await letGo()
    isOpen = false
    opening = null
  }

  async function end(beforeClose: StopOptions['beforeClose']): Promise<StopReport> {
    // A start on its way comes to its end first, so that nothing of it stays behind. One that waits for a silent database is not waited for
    // beyond the grace: it undoes itself when the database answers.
    const begun = Promise.allSettled([starting, opening])
    await Promise.race([begun, grace?.over])
    const beganAt = platform.monotonic()
    const ended = grace !== null && engine !== null ? await engine.stop(grace) : NOTHING
    grace?.cancel()
    const services = options.jobs.flatMap(({ service }) => (service === undefined ? [] : [service]))
    await Promise.allSettled(services.map((service) => service.stop()))
    await beforeClose?.().catch((error: unknown) => emit('store-failing', { part: 'stop', error }))
    isClosing = true
    results.stop(stopped())
    make.limits.stop(stopped())
    const report = { ...ended, tookMs: platform.monotonic() - beganAt }
    if (engine !== null) emit('mill-stopped', report)
    if (isOpen)
      await within(platform, LAST_MS, 'the last figures', observer.stop()).catch((error: unknown) =>
        emit('store-failing', { part: 'flush', error }),
      )
    await close()
    await delivered()
    return { ...ended, tookMs: platform.monotonic() - beganAt }
  }

  return {
    open,
    get engine() {
      return engine
    },
    get isOpen() {
      return isOpen
    },
    get isStarting() {
      return starting !== null && engine === null
    },
    get isStopping() {
      return stopping !== null
    },
    start() {
      if (stopping !== null) return Promise.reject(stopped())
      starting ??= begin().catch((error: unknown) => {
        starting = null
        throw error
      })
      return starting
    },
    async started(what) {
      if (stopping !== null) throw stopped()
      if (starting === null)
        throw new JobmillError('MILL_NOT_STARTED', `${what} needs a mill that works`, {
          fix: 'Call start() first',
        })
      await starting
    },
    stop(how = {}) {
      checkObjectKeys(how, 'options', ['grace', 'beforeClose'])
      const graceMs = how.grace === undefined ? options.graceMs : durationMs(how.grace, 'options.grace')
      if (stopping === null) {
        grace = createGrace(platform, graceMs)
        if (engine !== null) emit('mill-stopping', { running: engine.running, graceMs })
        stopping = end(how.beforeClose)
      } else if (how.grace !== undefined) grace?.shorten(graceMs)
      return isInsideHandler() ? refusedInside() : stopping
    },
  }
}

/** The stop goes on. Whoever does not await it need not know: so this must not become an unhandled rejection. */
function refusedInside(): Promise<never> {
  const refused = Promise.reject(
    new JobmillError(
      'HANDLER_INVALID',
      'stop() waits for running jobs, so a handler that awaits it waits for itself',
      {
        field: 'stop',
        fix: 'Call void mill.stop() and return from the handler. The mill is stopping',
      },
    ),
  )
  refused.catch(() => {})
  return refused
}

function stopped(): JobmillError {
  return new JobmillError('MILL_STOPPED', 'this mill was stopped', {
    fix: 'Make a new one with jobmill(), or stop it after its last use',
  })
}

function nothingToServe(): JobmillError {
  return new JobmillError('QUEUES_MISSING', 'there is no queue to work on', {
    field: 'serve',
    fix: "Give jobs: [ … ] to jobmill(), name queues with serve: ['default'] or JOBMILL_QUEUES=default, or only enqueue and do not start. A process with nothing but duties and schedules serves a queue too",
  })
}
