/**
 * The notifier: NOTIFY after a commit and not inside one (there it would make all writers queue for one lock; only a job that is handed over is told with its own), every few
 * milliseconds at most; LISTEN on a connection of its own, which comes back by itself. Losing any ring loses nothing: who waits also polls.
 */
import pg from 'pg'
import { JobmillError } from '../job/errors.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { WakeUp } from '../store/wake-up.ts'
import type { Notifier } from '../store/store.ts'
import { waiters } from '../store/waiters.ts'
import { messageText, readMessage, type Notification, wakeUpsOf } from './notify-message.ts'
import { notifySender } from './notify-sender.ts'
import { connectClient } from './connect-client.ts'
import type { Connection, Statement } from './connection.ts'
import { endSoon } from './end-client.ts'
import { channelOf, type HandOvers, handOvers as createHandOvers } from './hand-over.ts'
import { missedNotifications } from './missed-notifications.ts'
import { type Address, newClient } from './server-address.ts'

export interface NotifierOptions {
  /** Where to listen; null to live without. */
  readonly url: Address | null
  readonly channel: string
  readonly platform: Platform
  readonly connection: Connection
  /** See channelOf. Rejected when it cannot be read: then nobody is handed a job. */
  readonly secret: () => Promise<string>
  /** Told of every ring, of this process and of others. */
  readonly notified: (queues: readonly string[] | 'all') => void
}

export interface PostgresNotifier extends Omit<Notifier, 'notify'> {
  /** Listens when it resolves, unless that takes too long: then it goes on trying. */
  open(): Promise<void>
  close(): Promise<void>
  /** Listens on a new connection: the database was replaced, and with it the secret. */
  reconnect(): void
  notify(notifications: readonly Notification[]): void
  /** A ring that follows a statement without waiting for its answer; null when it is not the time for one: then `ring` is called afterwards. */
  along(notifications: readonly Notification[]): NotifyAlong | null
  readonly handOvers: Pick<HandOvers, 'of'>
  /** A claim for these queues is about to look: what rang before it need not be told. */
  forget(queues: readonly string[]): void
}

export interface NotifyAlong {
  readonly statement: Statement
  /** What the statement before it wrote is committed: tells those who wait in this process. */
  readonly tell: () => void
}

const NOTIFY = 'SELECT pg_notify($1, $2)'
/** Held by the connection that listens, so that the database knows whether anybody does: see enqueue_alike. */
const LISTENS = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 0))'
const OPEN_MS = 1_000
const RECONNECT_MS = 1_000
const CONNECT_MS = 5_000

/** Everything works without it, only later: so it must be told, or nobody would notice. */
function cannotListen(cause: unknown): JobmillError {
  return new JobmillError(
    'STORE_UNAVAILABLE',
    'cannot listen for new jobs, which are found by polling meanwhile',
    {
      field: 'notifier',
      fix: 'Check that the server runs. Behind a pooler, give notifier the address of the server itself, or false',
      cause,
    },
  )
}

export function createNotifier(options: NotifierOptions): PostgresNotifier {
  const { url, channel, platform, connection, notified } = options
  const me = platform.id()
  const local = waiters(platform)
  const missed = missedNotifications()
  const sender = notifySender({
    me,
    platform,
    // Where nobody listens there is nobody to send to.
    send: url === null ? null : (text) => connection.query(NOTIFY, [channel, text]),
  })
  const handOvers = createHandOvers({
    me,
    channelOf: (process) => channelOf(process, secret ?? ''),
    platform,
    send: (to, text) => void connection.query(NOTIFY, [to, text]).catch(() => {}),
  })
  let listener: pg.Client | undefined
  let listening = false
  /** Once this process listens where it is spoken to. */
  let secret: string | undefined
  // Until the store is open nobody waits, and nothing can be missed.
  let isOpening = false
  let retry: Timer | undefined
  let isOpen = false
  // Told to who waits once it was not the first time: a server that restarts drops everybody for a moment.
  let failures = 0
  let lose: (() => void) | undefined
  let failure: unknown

  async function listen(): Promise<void> {
    if (!isOpen || url === null) return
    let client: pg.Client
    try {
      // It reads certificates, and throws when it cannot.
      client = newClient(url, {
        application_name: 'jobmill notifier',
        keepAlive: true,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: CONNECT_MS,
      })
    } catch (error) {
      return failed(error)
    }
    listener = client
    // One way to come back, whichever of the two events tells of the loss first.
    const lost = (): void => {
      if (listener !== client) return
      listener = undefined
      listening = false
      secret = undefined
      client.removeAllListeners('notification')
      client.end().catch(() => {})
      again()
    }
    lose = lost
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', (message) => {
      const text = message.payload ?? ''
      if (message.channel === channel) heard(text)
      else handOvers.heard(text)
    })
    try {
      await connectClient(client, { platform, waitMs: CONNECT_MS, isWanted: () => listener === client })
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      listening = listener === client
      failures = 0
      // What rang while nobody listened is not known.
      if (!isOpening) wake('all')
      await listenHere(client)
    } catch (error) {
      failed(error)
      lost()
    }
  }

  async function listenHere(client: pg.Client): Promise<void> {
    const known = await options.secret().catch(() => undefined)
    if (known === undefined || listener !== client) return
    const own = channelOf(me, known)
    await client.query(`LISTEN ${pg.escapeIdentifier(own)}`)
    await client.query(LISTENS, [own])
    if (listener === client) secret = known
  }

  function again(): void {
    retry?.cancel()
    if (isOpen) retry = platform.timer(RECONNECT_MS, () => void listen(), { unref: true })
  }

  function failed(error: unknown): void {
    failures += 1
    failure = error
    // Whoever waits asks again, and is told.
    if (failures === 2) local.end()
    again()
  }

  function heard(text: string): void {
    const message = readMessage(text)
    if (message?.from === me) return
    if (message?.notifications !== undefined)
      handOvers.notified(
        message.from,
        message.notifications.map(({ queue }) => queue),
      )
    wake(message?.notifications === undefined ? 'all' : wakeUpsOf(message, true))
  }

  function wake(wakeUps: readonly WakeUp[] | 'all'): void {
    notified(wakeUps === 'all' ? wakeUps : wakeUps.map(({ queue }) => queue))
    local.wake(wakeUps)
    missed.notified(wakeUps)
  }

  return {
    async open() {
      isOpen = true
      isOpening = true
      const moment = new AbortController()
      await Promise.race([listen(), sleep(platform, OPEN_MS, moment.signal)])
      moment.abort()
      isOpening = false
    },
    async close() {
      isOpen = false
      retry?.cancel()
      local.end()
      await sender.idle()
      const client = listener
      listener = undefined
      if (client !== undefined) await endSoon(platform, client)
    },
    reconnect: () => lose?.(),
    forget: (queues) => missed.forget(queues),
    async wait(options) {
      if (failures > 1) throw cannotListen(failure)
      const wakeUps = missed.take(options.queues)
      if (wakeUps.length > 0) return wakeUps
      const over = missed.waits(options.queues)
      return local.wait(options).finally(over)
    },
    notify(notifications) {
      if (notifications.length > 0 && isOpen) wake(wakeUpsOf(sender.notify(notifications), listening))
    },
    along(notifications) {
      const message = isOpen ? sender.along(notifications) : null
      if (message === null) return null
      return {
        statement: { text: NOTIFY, values: [channel, messageText(message)] },
        tell: () => wake(wakeUpsOf(message, listening)),
      }
    },
    forward(wakeUp) {
      if (isOpen) sender.forward(wakeUp)
    },
    handOvers,
    standBy: (offer) => isOpen && secret !== undefined && handOvers.standBy(offer),
    receive: handOvers.receive,
  }
}
