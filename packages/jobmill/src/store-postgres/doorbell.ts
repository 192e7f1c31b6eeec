/**
 * The doorbell: NOTIFY after a commit, never inside one (there it would make all writers queue for one lock), at most one
 * on its way at a time; LISTEN on a connection of its own, which comes back by itself. Losing any ring loses nothing: who
 * waits also polls.
 */
import pg from 'pg'
import type { Platform, Timer } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { waiters } from '../store/waiters.ts'
import type { Doorbell } from '../store/store.ts'
import type { Connection } from './connection.ts'

export interface DoorbellOptions {
  /** Where to listen; null to live without. */
  readonly url: string | null
  readonly channel: string
  readonly platform: Platform
  readonly connection: Connection
}

export interface PostgresDoorbell extends Doorbell {
  open(): void
  close(): Promise<void>
  /** A claim for these queues is about to look: what rang before it need not be told. */
  forget(queues: readonly string[]): void
}

const RECONNECT_MS = 1_000
const CONNECT_MS = 5_000
const GOODBYE_MS = 1_000
// Stands for every queue; no queue can have this name.
const ANY = '*'
// NOTIFY takes at most 8,000 bytes.
const LONGEST_MESSAGE = 7_500

/** A server that says nothing any more must not keep us: after a moment its socket is dropped. */
async function endSoon(platform: Platform, client: pg.Client): Promise<void> {
  const ended = client.end().catch(() => {})
  const moment = new AbortController()
  await Promise.race([ended, sleep(platform, GOODBYE_MS, moment.signal)])
  moment.abort()
  ;(client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy()
}

export function doorbell({ url, channel, platform, connection }: DoorbellOptions): PostgresDoorbell {
  const me = platform.id()
  const local = waiters(platform)
  // Rang while nobody waited: between an empty claim and the wait after it, a ring must not get lost.
  const missed = new Set<string>()
  const toTell = new Set<string>()
  let telling: Promise<void> | undefined
  let listener: pg.Client | undefined
  let retry: Timer | undefined
  let isOpen = false

  async function listen(): Promise<void> {
    if (!isOpen || url === null) return
    const client = new pg.Client({
      connectionString: url,
      application_name: 'jobmill doorbell',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    })
    listener = client
    // One way to come back, whichever of the two events tells of the loss first.
    const lost = (): void => {
      if (listener !== client) return
      listener = undefined
      client.removeAllListeners('notification')
      client.end().catch(() => {})
      if (isOpen) retry = platform.timer(RECONNECT_MS, () => void listen(), { unref: true })
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      // What rang while nobody listened is not known.
      wake('all')
    } catch {
      lost()
    }
  }

  function heard(message: string): void {
    const [sender, queues] = message.split(' ')
    if (sender === me) return
    wake(queues === undefined || queues === '*' ? 'all' : queues.split(','))
  }

  function wake(queues: readonly string[] | 'all'): void {
    local.wake(queues)
    for (const queue of queues === 'all' ? [ANY] : queues) missed.add(queue)
  }

  /** What is rung while a message is on its way goes out together in the next one. */
  async function tell(): Promise<void> {
    while (toTell.size > 0) {
      const queues = [...toTell].join(',')
      toTell.clear()
      const message = `${me} ${queues.length > LONGEST_MESSAGE ? '*' : queues}`
      try {
        await connection.query('SELECT pg_notify($1, $2)', [channel, message])
      } catch {
        // Best effort: whoever waits polls as well.
      }
    }
  }

  return {
    open() {
      if (isOpen) return
      isOpen = true
      void listen()
    },
    async close() {
      isOpen = false
      retry?.cancel()
      local.end()
      await telling
      const client = listener
      listener = undefined
      if (client !== undefined) await endSoon(platform, client)
    },
    forget(queues) {
      missed.delete(ANY)
      for (const queue of queues) missed.delete(queue)
    },
    async wait(options) {
      if (![ANY, ...options.queues].some((queue) => missed.has(queue))) return local.wait(options)
      this.forget(options.queues)
      return true
    },
    ring(queues) {
      if (queues.length === 0 || !isOpen) return
      wake(queues)
      if (url === null) return
      for (const queue of queues) toTell.add(queue)
      telling ??= tell().finally(() => {
        telling = undefined
      })
    },
  }
}
