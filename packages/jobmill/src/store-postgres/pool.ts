/**
 * A few connections that statements share. A free one is handed out in the same breath: a pool that answers in a later tick lets
 * thousands of jobs end before the next claim is even sent, because a tick waits until every promise that is ready has been served.
 */
import type pg from 'pg'
import type { Platform, Timer } from '../platform/platform.ts'
import type { PoolUsage } from '../store/resources.ts'
import { connectClient } from './connect-client.ts'
import { closeSocket, endSoon } from './end-client.ts'
import { type Address, newClient } from './server-address.ts'

export interface Pool {
  /** A connection that is the caller's alone: now, or once one is free. */
  take(): pg.Client | Promise<pg.Client>
  /** Gives it back, or ends it when its state is not known. */
  give(client: pg.Client, healthy: boolean): void
  usage(): PoolUsage
  /** Resolves when all connections are ended; those in use, when they are given back. */
  end(): Promise<void>
}

export interface PoolOptions {
  readonly url: Address
  readonly most: number
  /** How long to wait for a free connection, and for a new one. */
  readonly waitMs: number
  readonly platform: Platform
}

interface Waiting {
  /** In the order in which they came. */
  readonly n: number
  readonly resolve: (client: pg.Client) => void
  readonly reject: (error: Error) => void
}

/** A connection that nothing needed for so long is ended. */
const IDLE_MS = 30_000

export function pool({ url, most, waitMs, platform }: PoolOptions): Pool {
  /** Free connections and since when, the last used at the end. */
  const free: { readonly client: pg.Client; readonly since: number }[] = []
  const waiting: Waiting[] = []
  const open = new Set<pg.Client>()
  /** On their way to the server, and on their way out. */
  const coming = new Map<Promise<void>, pg.Client | null>()
  const going = new Set<Promise<void>>()
  let came = 0
  let isEnding = false
  /** Rejected at the end, so that it waits for no password. */
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  let whenEmpty: (() => void) | undefined
  let sweep: Timer | null = null

  /** With a goodbye when it is idle. Otherwise its socket is closed: a server that does not answer would not answer that either. */
  function drop(client: pg.Client, isIdle: boolean): void {
    if (!open.delete(client)) return
    const at = free.findIndex((one) => one.client === client)
    if (at >= 0) free.splice(at, 1)
    if (!isIdle) closeSocket(client)
    const gone: Promise<void> = endSoon(platform, client).finally(() => going.delete(gone))
    going.add(gone)
    if (open.size === 0) whenEmpty?.()
    connectForWaiting()
  }

  /** Whoever came before it set out is told when it fails; who came later gets another. */
  function failed(error: unknown, setOutAfter: number): void {
    const at = waiting.findIndex(({ n }) => n <= setOutAfter)
    if (at >= 0) waiting.splice(at, 1)[0]?.reject(error instanceof Error ? error : new Error(String(error)))
  }

  async function connect(know: (client: pg.Client) => void): Promise<void> {
    // It reads certificates, and throws when it cannot.
    const client = newClient(url, {
      connectionTimeoutMillis: waitMs,
      application_name: 'jobmill',
      // Statements may follow each other without waiting for answers; only who has a connection to itself sends any.
      pipeline: true,
    })
    know(client)
    // From its first moment on: the server's drop can arrive in the same packet as its greeting, and an error that nobody listens
    // to would end the process.
    const lifecycle: { over?: Error } = {}
    const isOver = (error?: Error): void => {
      lifecycle.over ??= error ?? new Error('the connection was closed')
      drop(client, false)
    }
    client.on('error', isOver)
    client.on('end', () => isOver())
    try {
      const connecting = connectClient(client, { platform, waitMs, isWanted: () => !isEnding })
      await Promise.race([connecting, ended.promise])
    } catch (error) {
      closeSocket(client)
      throw error
    }
    if (lifecycle.over !== undefined) throw lifecycle.over
    open.add(client)
    give(client, true)
  }

  function setOut(): void {
    const setOutAfter = came
    // In a later breath than its place among those on their way, which it takes first.
    const way: Promise<void> = Promise.resolve()
      .then(() => connect((client) => void coming.set(way, client)))
      .catch((error: unknown) => failed(error, setOutAfter))
      .finally(() => {
        coming.delete(way)
        connectForWaiting()
      })
    coming.set(way, null)
  }

  /** One for each who waits, as far as there may be more. */
  function connectForWaiting(): void {
    if (isEnding) return
    while (coming.size < waiting.length && open.size + coming.size < most) setOut()
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
        const what = open.size === 0 ? 'there was no connection' : 'no connection was free'
        reject(new Error(`${what} within ${waitMs} ms`))
      })
      came += 1
      const one: Waiting = {
        n: came,
        resolve(client) {
          timer.cancel()
          resolve(client)
        },
        reject(error) {
          timer.cancel()
          reject(error)
        },
      }
      waiting.push(one)
      connectForWaiting()
    })
  }

  return {
    take: () => (isEnding ? Promise.reject(new Error('the pool was ended')) : (free.pop()?.client ?? wait())),
    give,
    usage: () => ({ open: open.size, busy: open.size - free.length, waiting: waiting.length }),
    async end() {
      isEnding = true
      sweep?.cancel()
      ended.reject(new Error('the pool was ended'))
      for (const one of waiting.splice(0)) one.reject(new Error('the pool was ended'))
      // One that has just arrived may be in somebody's hands.
      for (const client of coming.values()) if (client !== null && !open.has(client)) closeSocket(client)
      while (free[0] !== undefined) drop(free[0].client, true)
      if (open.size > 0) await new Promise<void>((resolve) => (whenEmpty = resolve))
      await Promise.all([...coming.keys(), ...going])
    },
  }
}
