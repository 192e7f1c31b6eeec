/**
 * A few connections that statements share. A free one is handed out in the same breath: a pool that answers in a later tick lets thousands of jobs end before the
 * next claim is even sent, because a tick waits until every promise that is ready has been served.
 */
import pg from 'pg'
import type { Platform, Timer } from '../platform/platform.ts'

export interface Pool {
  /** A connection that is the caller's alone: now, or once one is free. */
  take(): pg.Client | Promise<pg.Client>
  /** Gives it back, or ends it when its state is not known. */
  give(client: pg.Client, healthy: boolean): void
  /** Resolves when all connections are ended; those in use, when they are given back. */
  end(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  readonly most: number
  /** How long to wait for a free connection, and for a new one. */
  readonly waitMs: number
  readonly platform: Platform
}

interface Waiting {
  readonly resolve: (client: pg.Client) => void
  readonly reject: (error: unknown) => void
  readonly timer: Timer
}

/** A connection that nothing needed for so long is ended. */
const IDLE_MS = 30_000

export function pool({ url, most, waitMs, platform }: PoolOptions): Pool {
  /** Free connections and since when, the last used at the end. */
  const free: { readonly client: pg.Client; readonly since: number }[] = []
  const waiting: Waiting[] = []
  const open = new Map<pg.Client, { readonly ended: Promise<void>; readonly hasEnded: () => void }>()
  let connecting = 0
  let isEnding = false
  let sweep: Timer | null = null

  /** With a goodbye when it is idle. Otherwise its socket is closed: a server that does not answer would not answer that either. */
  function drop(client: pg.Client, isIdle: boolean): void {
    const known = open.get(client)
    if (known === undefined) return
    open.delete(client)
    const at = free.findIndex((one) => one.client === client)
    if (at >= 0) free.splice(at, 1)
    client.end().then(known.hasEnded, known.hasEnded)
    if (!isIdle) socketOf(client)?.destroy()
    connectForWaiting()
  }

  async function connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: waitMs,
      application_name: 'jobmill',
      // Statements may follow each other without waiting for answers; only who has a connection to itself sends any.
      pipeline: true,
    })
    // From its first moment on: the server's drop can arrive in the same packet as its greeting, and an error that nobody listens
    // to would end the process.
    client.on('error', () => drop(client, false))
    client.on('end', () => drop(client, false))
    connecting += 1
    try {
      await client.connect()
    } catch (error) {
      connecting -= 1
      client.end().catch(() => {})
      waiting.shift()?.reject(error)
      return connectForWaiting()
    }
    connecting -= 1
    const { promise, resolve } = Promise.withResolvers<void>()
    open.set(client, { ended: promise, hasEnded: resolve })
    give(client, true)
  }

  /** One for each who waits, as far as there may be more. */
  function connectForWaiting(): void {
    while (connecting < waiting.length && open.size + connecting < most) void connect()
  }

  function give(client: pg.Client, healthy: boolean): void {
    if (!healthy || isEnding) return drop(client, healthy)
    if (!open.has(client)) return
    const next = waiting.shift()
    if (next !== undefined) return next.resolve(client)
    free.push({ client, since: platform.monotonic() })
    sweep ??= platform.timer(IDLE_MS, endIdle, { unref: true })
  }

  function endIdle(): void {
    sweep = null
    const latest = platform.monotonic() - IDLE_MS
    for (const { client } of free.filter(({ since }) => since <= latest)) drop(client, true)
    if (free.length > 0) sweep = platform.timer(IDLE_MS, endIdle, { unref: true })
  }

  function wait(): Promise<pg.Client> {
    return new Promise((resolve, reject) => {
      const timer = platform.timer(waitMs, () => {
        waiting.splice(waiting.indexOf(one), 1)
        reject(new Error(`no connection was free within ${waitMs} ms`))
      })
      const one: Waiting = {
        timer,
        resolve(client) {
          timer.cancel()
          resolve(client)
        },
        reject(error) {
          timer.cancel()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      }
      waiting.push(one)
      connectForWaiting()
    })
  }

  return {
    take: () => (isEnding ? Promise.reject(new Error('the pool was ended')) : (free.pop()?.client ?? wait())),
    give,
    async end() {
      isEnding = true
      sweep?.cancel()
      for (const one of waiting.splice(0)) one.reject(new Error('the pool was ended'))
      const all = [...open.values()].map(({ ended }) => ended)
      while (free[0] !== undefined) drop(free[0].client, true)
      await Promise.all(all)
    },
  }
}

export function socketOf(client: pg.Client): { destroy(): void } | undefined {
  return (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream
}
