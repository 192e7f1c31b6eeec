/**
 * The doorbell: NOTIFY after a commit and not inside one (there it would make all writers queue for one lock; only a job that is handed over is told with its own), every few
 * milliseconds at most; LISTEN on a connection of its own, which comes back by itself. Losing any ring loses nothing: who waits also polls.
 */
import pg from 'pg'
import { JobmillError } from '../job/errors.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Rung } from '../store/rung.ts'
import type { Doorbell } from '../store/store.ts'
import { waiters } from '../store/waiters.ts'
import { messageText, readMessage, type Ring, rungsOf } from './bell-message.ts'
import { bellSender } from './bell-sender.ts'
import { connectClient } from './connect-client.ts'
import type { Connection, Statement } from './connection.ts'
import { endSoon } from './end-client.ts'
import { channelOf, type HandOvers, handOvers as createHandOvers } from './hand-over.ts'
import { missedRings } from './missed-rings.ts'
import { type Address, newClient } from './server-address.ts'

export interface DoorbellOptions {
  /** Where to listen; null to live without. */
  readonly url: Address | null
  readonly channel: string
  readonly platform: Platform
  readonly connection: Connection
  /** See channelOf. Rejected when it cannot be read: then nobody is handed a job. */
  readonly secret: () => Promise<string>
  /** Told of every ring, of this process and of others. */
  readonly rang: (queues: readonly string[] | 'all') => void
}

export interface PostgresDoorbell extends Omit<Doorbell, 'ring'> {
  /** Listens when it resolves, unless that takes too long: then it goes on trying. */
  open(): Promise<void>
  close(): Promise<void>
  /** Listens on a new connection: the database was replaced, and with it the secret. */
  reconnect(): void
  ring(rings: readonly Ring[]): void
  /** A ring that follows a statement without waiting for its answer; null when it is not the time for one: then `ring` is called afterwards. */
  along(rings: readonly Ring[]): RingAlong | null
  readonly handOvers: Pick<HandOvers, 'of'>
  /** A claim for these queues is about to look: what rang before it need not be told. */
  forget(queues: readonly string[]): void
}

export interface RingAlong {
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
      field: 'doorbell',
      fix: 'Check that the server runs. Behind a pooler, give doorbell the address of the server itself, or false',
      cause,
    },
  )
}

export function doorbell(options: DoorbellOptions): PostgresDoorbell {
  const { url, channel, platform, connection, rang } = options
  const me = platform.id()
  const local = waiters(platform)
  const missed = missedRings()
  const sender = bellSender({
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
        application_name: 'jobmill doorbell',
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
    if (message?.rings !== undefined)
      handOvers.rang(
        message.from,
        message.rings.map(({ queue }) => queue),
      )
    wake(message?.rings === undefined ? 'all' : rungsOf(message, true))
  }

  function wake(rungs: readonly Rung[] | 'all'): void {
    rang(rungs === 'all' ? rungs : rungs.map(({ queue }) => queue))
    local.wake(rungs)
    missed.rang(rungs)
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
      const rungs = missed.take(options.queues)
      if (rungs.length > 0) return rungs
      const over = missed.waits(options.queues)
      return local.wait(options).finally(over)
    },
    ring(rings) {
      if (rings.length > 0 && isOpen) wake(rungsOf(sender.ring(rings), listening))
    },
    along(rings) {
      const message = isOpen ? sender.along(rings) : null
      if (message === null) return null
      return {
        statement: { text: NOTIFY, values: [channel, messageText(message)] },
        tell: () => wake(rungsOf(message, listening)),
      }
    },
    pass(rung) {
      if (isOpen) sender.pass(rung)
    },
    handOvers,
    standBy: (offer) => isOpen && secret !== undefined && handOvers.standBy(offer),
    receive: handOvers.receive,
  }
}
