/**
 * The notifier. It sends NOTIFY after a commit, at most every few milliseconds. NOTIFY inside a transaction
 * makes all writers wait for one lock, so only remote dispatch does that. LISTEN uses its own connection,
 * which reconnects automatically. A lost notification only adds latency, because instances also poll. They
 * poll less often while they are idle and `isListening`.
 */
import type pg from 'pg'
import { JobmillError } from '../../job/errors.ts'
import type { Platform, Timer } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { WakeUp } from '../../store/types/wake-up.ts'
import type { NotifierPart } from '../../store/parts.ts'
import type { IdleWorkerOffer } from '../../store/types/claim.ts'
import { waiters } from '../../store/waiters.ts'
import { messageText, type Notification, ofNoQueue, readMessage, wakeUpsOf } from './notify-message.ts'
import { NOTIFY_EVERY_MS, notifySender } from './notify-sender.ts'
import { connectClient } from '../connection/connect-client.ts'
import type { Connection } from '../connection/connection.ts'
import { endSoon } from '../connection/end-client.ts'
import { channelOf, remoteDispatcher as createRemoteDispatcher } from './remote-dispatch.ts'
import { trackMissedNotifications } from './missed-notifications.ts'
import { loadPg, newClient } from '../connection/driver.ts'
import type { Address } from '../connection/server-address.ts'

export interface NotifierOptions {
  /** The address for LISTEN; null to disable it. */
  readonly url: Address | null
  readonly channel: string
  readonly platform: Platform
  readonly connection: Connection
  /** See channelOf. If it rejects, remote dispatch is disabled. */
  readonly secret: () => Promise<string>
  /** Called for every notification, of this and other processes. */
  readonly onNotification: (queues: readonly string[] | 'all') => void
}

const NOTIFY = 'SELECT pg_notify($1, $2)'
/** A lock of the listening connection, so that `enqueue` can check whether the process listens. */
const LISTENS = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 0))'
const OPEN_MS = 1_000
const RECONNECT_MS = 1_000
const CONNECT_MS = 5_000
/** When TCP starts to probe a silent connection. Ten failed probes, one per second, end it. */
const KEEP_ALIVE_MS = 10_000
const UNHEARD_EVERY_MS = 500
/** How often to check whether notifications arrive, until one does. */
const CHECK_EVERY_MS = 30_000
/**
 * After a notification without ready jobs, receivers poll often for longer than this, so further ones for the
 * same queue are not needed.
 */
const LOOK_EVERY_MS = 1_000

/** Everything works without LISTEN, only slower, so the failure must be reported or it would go unnoticed. */
function cannotListen(cause: unknown): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', 'cannot listen for new jobs, falling back to polling', {
    field: 'notifier',
    fix: 'Check that the server is running. Behind a pooler, set notifier to the URL of the server itself, or to false',
    cause,
  })
}

export type PostgresNotifier = ReturnType<typeof createNotifier>

export function createNotifier(options: NotifierOptions) {
  const { url, channel, platform, connection, onNotification } = options
  const me = platform.id()
  const local = waiters(platform)
  const missed = trackMissedNotifications()
  const sender = notifySender({
    me,
    platform,
    send: (text) => connection.query(NOTIFY, [channel, text]),
    // Without a notifier, a store sends only as often as idle instances of other processes need it.
    everyMs: url === null ? UNHEARD_EVERY_MS : NOTIFY_EVERY_MS,
  })
  /** When the last notification without ready jobs was sent, by queue. */
  const lookedAt = new Map<string, number>()
  const remoteDispatcher = createRemoteDispatcher({
    me,
    channelOf: (process) => channelOf(process, secret ?? ''),
    platform,
    send: (to, text) => void connection.query(NOTIFY, [to, text]).catch(() => {}),
  })
  let listener: pg.Client | undefined
  let listening = false
  /** A notification of this process has arrived. A pooler may accept LISTEN and drop all of them. */
  let hasArrived = false
  let checkedAt = Number.NEGATIVE_INFINITY
  /** Set once this process listens on its own channel. */
  let secret: string | undefined
  // While the store opens, there are no waiters, and nothing can be missed.
  let isOpening = false
  let retry: Timer | undefined
  let isOpen = false
  // Waiting callers get an error from the second failure on. A server restart disconnects every client once.
  let failures = 0
  let lose: (() => void) | undefined
  let failure: unknown

  async function listen(): Promise<void> {
    if (!isOpen || url === null) return
    let client: pg.Client
    try {
      // newClient reads certificates and throws if it cannot.
      client = newClient(url, {
        application_name: 'jobmill notifier',
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: CONNECT_MS,
      })
    } catch (error) {
      return onFailure(error)
    }
    listener = client
    // Both events report a lost connection. Only the first one triggers the reconnect.
    const onLost = (): void => {
      if (listener !== client) return
      listener = undefined
      const wasListening = listening
      listening = false
      hasArrived = false
      secret = undefined
      if (wasListening) local.end()
      client.removeAllListeners('notification')
      client.end().catch(() => {})
      reconnectLater()
    }
    lose = onLost
    client.on('error', onLost)
    client.on('end', onLost)
    client.on('notification', (message) => {
      const text = message.payload ?? ''
      if (message.channel === channel) onMessage(text)
      else remoteDispatcher.onMessage(text)
    })
    try {
      await connectClient(client, { platform, waitMs: CONNECT_MS, isWanted: () => listener === client })
      await client.query(`LISTEN ${loadPg().escapeIdentifier(channel)}`)
      listening = listener === client
      failures = 0
      // Notifications may have been missed while not listening.
      if (!isOpening) wake('all')
      checkArrival()
      await listenHere(client)
    } catch (error) {
      onFailure(error)
      onLost()
    }
  }

  /** Sends a notification that wakes no instance, to find out whether notifications arrive here. */
  function checkArrival(): void {
    checkedAt = platform.monotonic()
    void connection.query(NOTIFY, [channel, messageText(ofNoQueue(me))]).catch(() => {})
  }

  async function listenHere(client: pg.Client): Promise<void> {
    const known = await options.secret().catch(() => undefined)
    if (known === undefined || listener !== client) return
    const own = channelOf(me, known)
    await client.query(`LISTEN ${loadPg().escapeIdentifier(own)}`)
    await client.query(LISTENS, [own])
    if (listener === client) secret = known
  }

  function reconnectLater(): void {
    retry?.cancel()
    if (isOpen) retry = platform.timer(RECONNECT_MS, () => void listen(), { unref: true })
  }

  function onFailure(error: unknown): void {
    failures += 1
    failure = error
    // Ends all waits. Callers wait again and get the error.
    if (failures === 2) local.end()
    reconnectLater()
  }

  function onMessage(text: string): void {
    const message = readMessage(text)
    if (message?.from === me) {
      hasArrived = listening
      return
    }
    if (message?.notifications !== undefined)
      remoteDispatcher.onNotification(
        message.from,
        message.notifications.map(({ queue }) => queue),
      )
    wake(message?.notifications === undefined ? 'all' : wakeUpsOf(message, true))
  }

  function wake(wakeUps: readonly WakeUp[] | 'all'): void {
    onNotification(wakeUps === 'all' ? wakeUps : wakeUps.map(({ queue }) => queue))
    local.wake(wakeUps)
    missed.add(wakeUps)
  }

  function isNews({ queue, jobs }: Notification): boolean {
    if (jobs !== 0) return true
    const now = platform.monotonic()
    if (now - (lookedAt.get(queue) ?? Number.NEGATIVE_INFINITY) < LOOK_EVERY_MS) return false
    lookedAt.set(queue, now)
    return true
  }

  return {
    /** Resolves once it listens, or after a time limit. It then keeps trying in the background. */
    async open(): Promise<void> {
      isOpen = true
      isOpening = true
      const moment = new AbortController()
      await Promise.race([listen(), sleep(platform, OPEN_MS, moment.signal)])
      moment.abort()
      isOpening = false
    },
    async close(): Promise<void> {
      isOpen = false
      retry?.cancel()
      local.end()
      await sender.close()
      const client = listener
      listener = undefined
      if (client !== undefined) await endSoon(platform, client)
    },
    /** Listens on a new connection, because the database and its secret were replaced. */
    reconnect: (): void => lose?.(),
    /** A claim of these queues is about to start, so earlier notifications for them are obsolete. */
    forget: (queues: readonly string[]): void => missed.forget(queues),
    async wait(options: Parameters<NotifierPart['wait']>[0]): Promise<readonly WakeUp[]> {
      if (failures > 1) throw cannotListen(failure)
      // The check itself may have failed.
      if (listening && !hasArrived && platform.monotonic() - checkedAt > CHECK_EVERY_MS) checkArrival()
      const wakeUps = missed.take(options.queues)
      if (wakeUps.length > 0) return wakeUps
      const over = missed.startWaiting(options.queues)
      return local.wait(options).finally(over)
    },
    isListening: (): boolean => listening && hasArrived,
    notify(given: readonly Notification[]): void {
      const notifications = given.filter(isNews)
      if (notifications.length === 0 || !isOpen) return
      const message = sender.notify(notifications)
      // Without a notifier, notifications are merged until the next message may be sent. The instances of
      // this process need only the new ones.
      wake(wakeUpsOf(url === null ? { ...message, notifications } : message, listening))
    },
    /** Wakes all instances of other processes, whatever queues they serve. */
    notifyAll(): void {
      const { from, seed, skip } = ofNoQueue(me)
      const text = messageText({ from, seed, skip })
      if (isOpen) void connection.query(NOTIFY, [channel, text]).catch(() => {})
    },
    /**
     * A notification to send right after a statement, without waiting for the reply. Null if it is too soon
     * for one; the caller then calls `notify` afterward.
     */
    along(notifications: readonly Notification[]) {
      const message = isOpen ? sender.along(notifications) : null
      if (message === null) return null
      return {
        statement: { text: NOTIFY, values: [channel, messageText(message)] },
        /** Wakes the waiting instances of this process, once the preceding statement has committed. */
        wakeLocal: (): void => wake(wakeUpsOf(message, listening)),
      }
    },
    forward(wakeUp: WakeUp): void {
      if (isOpen) sender.forward(wakeUp)
    },
    remoteDispatcher,
    offerWorker: (offer: IdleWorkerOffer): boolean =>
      isOpen && secret !== undefined && remoteDispatcher.offerWorker(offer),
    receive: remoteDispatcher.receive,
  }
}
