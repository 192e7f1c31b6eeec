/**
 * A small connection pool that returns a free connection synchronously. A pool that answers in a later tick
 * lets thousands of jobs end before the next claim is sent, because the tick waits for all pending promises.
 */
import type pg from 'pg'
import { JobmillError } from '../../job/errors.ts'
import type { Platform, Timer } from '../../platform/platform.ts'
import type { PoolUsage } from '../../store/admin/resources.ts'
import { asksForPassword, connectClient, passwordLate } from './connect-client.ts'
import { closeSocket, endSoon } from './end-client.ts'
import { newClient } from './driver.ts'
import type { Address } from './server-address.ts'

export interface PoolOptions {
  readonly url: Address
  readonly most: number
  /** How long to wait for a free or a new connection. */
  readonly waitMs: number
  readonly platform: Platform
}

interface Waiting {
  /** Position in the order of arrival. */
  readonly n: number
  readonly resolve: (client: pg.Client) => void
  readonly reject: (error: Error) => void
}

/** An idle connection is ended after this time. */
const IDLE_MS = 30_000

export type Pool = ReturnType<typeof pool>

export function pool({ url, most, waitMs, platform }: PoolOptions) {
  /** Free connections with the time they became free, the last used at the end. */
  const free: { readonly client: pg.Client; readonly since: number }[] = []
  const waiting: Waiting[] = []
  const open = new Set<pg.Client>()
  /** Connections being opened, and connections being closed. */
  const coming = new Map<Promise<void>, pg.Client | null>()
  const going = new Set<Promise<void>>()
  let arrivals = 0
  let isEnding = false
  /** Rejected by `end`, so that it does not wait for a password function. */
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  let whenEmpty: (() => void) | undefined
  let sweep: Timer | null = null

  /**
   * An idle connection is ended gracefully. The socket of any other is closed first, because an unresponsive
   * server would not answer.
   */
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

  /**
   * A failed connection rejects a caller that was waiting when it started. Later callers get another
   * connection.
   */
  function rejectWaiting(error: unknown, lastArrival: number): void {
    const at = waiting.findIndex(({ n }) => n <= lastArrival)
    if (at >= 0) waiting.splice(at, 1)[0]?.reject(error instanceof Error ? error : new Error(String(error)))
  }

  async function connect(know: (client: pg.Client) => void): Promise<void> {
    // newClient reads certificates and throws if it cannot.
    const client = newClient(url, {
      connectionTimeoutMillis: waitMs,
      application_name: 'jobmill',
      // Allows statements to follow each other without waiting for replies. Each connection has one borrower
      // at a time.
      pipeline: true,
    })
    know(client)
    // Registered before connecting: the server can drop the connection in the same packet as its greeting,
    // and an unhandled error event would end the process.
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

  function startConnecting(): void {
    const lastArrival = arrivals
    // Deferred, so that `coming` has the entry of the connection before it starts.
    const way: Promise<void> = Promise.resolve()
      .then(() => connect((client) => void coming.set(way, client)))
      .catch((error: unknown) => rejectWaiting(error, lastArrival))
      .finally(() => {
        coming.delete(way)
        connectForWaiting()
      })
    coming.set(way, null)
  }

  /** Opens one connection for each waiting caller, up to the maximum. */
  function connectForWaiting(): void {
    if (isEnding) return
    while (coming.size < waiting.length && open.size + coming.size < most) startConnecting()
  }

  /** Returns a connection to the pool, or ends it if its state is unknown. */
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

  function lateError(): Error {
    if (open.size > 0)
      return new JobmillError('STORE_UNAVAILABLE', `no connection was free within ${waitMs} ms`, {
        fix: 'Retry. If the error persists, end long transactions, or raise the option connections',
      })
    const isAsking = [...coming.values()].some((client) => client !== null && asksForPassword(client))
    return isAsking ? passwordLate(waitMs) : new Error(`no connection was opened within ${waitMs} ms`)
  }

  function wait(): Promise<pg.Client> {
    const { promise, resolve, reject } = Promise.withResolvers<pg.Client>()
    arrivals += 1
    const one: Waiting = { n: arrivals, resolve, reject }
    const timer = platform.timer(waitMs, () => {
      const at = waiting.indexOf(one)
      if (at >= 0) waiting.splice(at, 1)
      reject(lateError())
    })
    const cancel = (): void => timer.cancel()
    promise.then(cancel, cancel)
    waiting.push(one)
    connectForWaiting()
    return promise
  }

  /** Resolves when all connections have ended, including those in use. */
  async function end(): Promise<void> {
    isEnding = true
    sweep?.cancel()
    ended.reject(new Error('the connection pool is closed'))
    for (const one of waiting.splice(0)) one.reject(new Error('the connection pool is closed'))
    // A connection that just arrived may already be in use.
    for (const client of coming.values()) if (client !== null && !open.has(client)) closeSocket(client)
    while (free[0] !== undefined) drop(free[0].client, true)
    if (open.size > 0) await new Promise<void>((resolve) => (whenEmpty = resolve))
    await Promise.all([...coming.keys(), ...going])
  }

  return {
    /** Returns a connection for exclusive use: at once, or when one is free. */
    take: (): pg.Client | Promise<pg.Client> =>
      isEnding ? Promise.reject(new Error('the connection pool is closed')) : (free.pop()?.client ?? wait()),
    give,
    usage: (): PoolUsage => ({ open: open.size, busy: open.size - free.length, waiting: waiting.length }),
    end,
    /** Closes the connections in use too. Their statements fail. */
    cut(): void {
      void end()
      for (const client of open) closeSocket(client)
    },
  }
}
