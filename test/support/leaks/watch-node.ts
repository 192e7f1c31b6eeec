// Records what Node creates in this process: timers, sockets, servers, children, threads, and listeners on
// abort signals.
/* oxlint-disable eslint/no-underscore-dangle -- what Node knows of a timer or a socket has such names */
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import type { Server, Socket } from 'node:net'
import type { Worker } from 'node:worker_threads'
import { hasListener, watch } from './things.ts'

/** `_destroyed` is Node's mark on a timer that has fired for the last time or was cleared. */
type Timer = NodeJS.Timeout & { readonly _destroyed: boolean; readonly _idleTimeout: number }

function watchTimers(): void {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const real = globalThis[name]
    const watched = (...args: Parameters<typeof setTimeout>): NodeJS.Timeout => {
      const timer = real(...args) as Timer
      watch(
        'timer',
        () => !timer._destroyed,
        () => `${name} of ${timer._idleTimeout} ms`,
      )
      return timer
    }
    // Keep the other properties of the function, such as the promise version.
    globalThis[name] = Object.defineProperties(
      watched,
      Object.getOwnPropertyDescriptors(real),
    ) as typeof setTimeout & typeof setInterval
  }
}

function watchSocket(message: unknown): void {
  const { socket } = message as { socket: Socket & { readonly _handle: unknown } }
  // Without a handle the socket is not connected, or closed.
  const isThere = (): boolean => !socket.destroyed || socket._handle !== null
  watch(
    'socket',
    isThere,
    () => `to ${socket.remoteAddress ?? 'nowhere yet'} port ${socket.remotePort ?? '?'}`,
  )
}

function watchSockets(): void {
  subscribe('net.client.socket', watchSocket)
  subscribe('net.server.socket', watchSocket)
  subscribe('tracing:net.server.listen:asyncStart', (message) => {
    const { server } = message as { server: Server }
    watch(
      'server',
      () => server.listening,
      () => `listening on ${JSON.stringify(server.address())}`,
    )
  })
}

interface Dispatcher {
  readonly constructor: new () => Dispatcher
  readonly close: () => Promise<void>
}

/**
 * `fetch` keeps a connection open for seconds for the next request. That is not a leak and not worth waiting
 * for.
 */
export function closeIdleConnections(): void {
  const shared = globalThis as { [GLOBAL_DISPATCHER]?: Dispatcher }
  const used = shared[GLOBAL_DISPATCHER]
  if (used === undefined) return
  shared[GLOBAL_DISPATCHER] = new used.constructor()
  // It first finishes the requests in flight.
  void used.close()
}

/** The dispatcher of Node's `fetch`, which owns its connections. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1')

function watchProcesses(): void {
  subscribe('child_process', (message) => {
    const child = (message as { process: ChildProcess }).process
    const isThere = (): boolean =>
      child.pid !== undefined && child.exitCode === null && child.signalCode === null
    watch(
      'child',
      isThere,
      () => `process ${child.pid}, ${child.spawnargs.join(' ').slice(0, 120)}`,
      () => child.kill('SIGKILL'),
    )
  })
  process.on('worker', (worker: Worker) => {
    watch(
      'thread',
      () => worker.threadId !== -1,
      () => `thread ${worker.threadId}`,
    )
  })
}

function watchAbortSignals(): void {
  const { prototype } = EventTarget
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its target below
  const real = prototype.addEventListener
  prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof real>): void {
    real.apply(this, args)
    const [type, listener] = args
    if (!(this instanceof AbortSignal) || type !== 'abort') return
    // A signal that has fired calls no listener again.
    watch(
      'abort listener',
      () => !this.aborted && hasListener(this, listener),
      () => 'on a signal that has not fired',
    )
  }
}

const warned: string[] = []

/** Node's warnings about too many listeners since the last call. */
export function takeWarnings(): string[] {
  return warned.splice(0)
}

function watchWarnings(): void {
  process.on('warning', ({ name, message }) => {
    if (name === 'MaxListenersExceededWarning') warned.push(`listener: ${message}`)
  })
}

let isWatching = false

/** Runs once in a process, which may run several test files. */
export function watchNode(): void {
  if (isWatching) return
  isWatching = true
  watchWarnings()
  watchTimers()
  watchSockets()
  watchProcesses()
  watchAbortSignals()
}
