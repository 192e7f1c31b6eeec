// A proxy to PostgreSQL that pools sessions across clients. A new session has empty caches, and filling them
// takes the server 20 to 40 ms, most of its work in tests with short-lived stores. The proxy resets a session
// before it gives it to the next client; plans stay. Only for servers with trust authentication, since no
// later client of a session is authenticated.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { keptStatements, type KeptStatements, NO_STATEMENTS } from './kept-statements.ts'
import { messages, wholeMessages } from './postgres-messages.ts'

export interface KeptSessions {
  readonly url: string
  readonly stop: () => Promise<void>
}

interface Session {
  readonly socket: Socket
  /** The first messages of the server, repeated for each client. */
  greeting: Buffer
  client: Duplex | null
  /** The number of answers still expected. */
  owed: number
  /** Called when the server has reset the session after its last client. */
  undone: () => void
  /** The transaction status after the last answer. */
  status: string
  readonly statements: KeptStatements
}

const PROTOCOL_3 = 196_608
/** Messages of the client that the server answers with a status. */
const ANSWERED = 'QSF'
const LEAVES = 'X'
const LEAVING = Buffer.from([LEAVES.charCodeAt(0), 0, 0, 0, 4])
const IDLE = 'I'
const UNDO = 'unlisten *; reset all; select pg_advisory_unlock_all(); discard temp'
const UNDO_ALL = `deallocate all; ${UNDO}`
/** More sessions than the stores of all concurrent tests use. */
const MOST_KEPT = 60

export interface KeptOptions {
  /**
   * Prepared statements stay too. Only for stores that all use one schema: statements prepared for many
   * schemas make every change of a table slow.
   */
  readonly keepsStatements: boolean
  /** The Unix socket of the server, to use instead of TCP. */
  readonly socket?: string | null
}

export async function keepSessions(serverUrl: string, options: KeptOptions): Promise<KeptSessions> {
  const sessions = poolOfSessions(serverUrl, options)
  const server = createServer({ noDelay: true }, sessions.accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async stop() {
      sessions.stop()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * The same inside the process of its clients. Each message then wakes two processes instead of three, which
 * is a fifth of the work of a test that sends small statements. `stream` is an option of pg.Client.
 */
export function keepSessionsHere(
  serverUrl: string,
  options: KeptOptions,
): { readonly stream: () => Socket; readonly stop: () => void } {
  const sessions = poolOfSessions(serverUrl, options)
  return {
    stream() {
      const [near, far] = duplexPair()
      sessions.accept(far)
      return asSocket(near)
    },
    stop: sessions.stop,
  }
}

/** Adds the methods of a socket that the driver calls. */
function asSocket(stream: Duplex): Socket {
  const self = (): Duplex => stream
  const connected = (): Duplex => {
    process.nextTick(() => stream.emit('connect'))
    return stream
  }
  return Object.assign(stream, {
    connect: connected,
    setNoDelay: self,
    setKeepAlive: self,
    ref: self,
    unref: self,
  }) as unknown as Socket
}

interface PoolOfSessions {
  readonly accept: (client: Duplex) => void
  readonly stop: () => void
}

function poolOfSessions(serverUrl: string, { keepsStatements, socket = null }: KeptOptions): PoolOfSessions {
  const { hostname: host, port } = new URL(serverUrl)
  const address = socket === null ? { host, port: Number(port), noDelay: true } : { path: socket }
  /** Keyed by the startup message of the session: user, database and application name. */
  const kept = new Map<string, Session[]>()
  const streams = new Set<Duplex>()

  function known<T extends Duplex>(stream: T): T {
    streams.add(stream)
    stream.on('error', () => stream.destroy())
    return stream.on('close', () => streams.delete(stream))
  }
  const toServer = (): Socket => known(connect(address))

  function begin(start: Buffer, key: string): Session {
    const session: Session = {
      socket: toServer(),
      greeting: Buffer.alloc(0),
      client: null,
      owed: 1,
      undone: () => {},
      status: '',
      statements: keepsStatements ? keptStatements() : NO_STATEMENTS,
    }
    const read = messages((type, first) => {
      session.statements.answered(type)
      if (type !== 'Z') return
      session.owed -= 1
      session.status = first
      if (session.owed === 0) session.undone()
    })
    session.socket.write(start)
    session.socket.on('data', (chunk) => {
      if (session.status === '') session.greeting = Buffer.concat([session.greeting, chunk])
      if (session.client !== null) pass(chunk, session.socket, session.client)
      read(chunk)
    })
    session.socket.on('close', () => {
      session.client?.end()
      session.undone()
      kept.set(
        key,
        (kept.get(key) ?? []).filter((one) => one !== session),
      )
    })
    return session
  }

  /** Waits for a session that is being reset, which is faster than opening a new one. */
  async function takeKept(key: string): Promise<Session | null> {
    const session = kept.get(key)?.pop()
    if (session === undefined) return null
    if (session.owed > 0) await new Promise<void>((resolve) => (session.undone = resolve))
    return session.socket.destroyed ? takeKept(key) : session
  }

  async function serve(client: Duplex, start: Buffer): Promise<void> {
    const key = start.toString('latin1')
    const session = (await takeKept(key)) ?? begin(start, key)
    if (client.destroyed) return keep(session, key)
    session.client = client
    if (session.status !== '') client.write(session.greeting)
    let passed: Buffer[] = []
    const read = wholeMessages((type, message) => {
      if (type === LEAVES) return leave(session, key)
      if (ANSWERED.includes(type)) session.owed += 1
      passed.push(session.statements.sent(type, message))
    })
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      pass(Buffer.concat(passed), client, session.socket)
      passed = []
    })
    // Close without a message, so that the server notices a lost client as usual.
    client.on('close', () => session.client === client && session.socket.destroy())
  }

  function keep(session: Session, key: string): void {
    kept.set(key, [...(kept.get(key) ?? []), session])
  }

  function leave(session: Session, key: string): void {
    session.client?.end()
    session.client = null
    const count = [...kept.values()].flat().length
    if (session.owed > 0 || session.status !== IDLE || count >= MOST_KEPT)
      return void session.socket.end(LEAVING)
    const text = keepsStatements ? UNDO : UNDO_ALL
    const size = Buffer.alloc(4)
    size.writeInt32BE(text.length + 5)
    session.owed = 1
    const undo = Buffer.concat([Buffer.from('Q'), size, Buffer.from(`${text}\0`)])
    session.socket.write(session.statements.sent('Q', undo))
    keep(session, key)
  }

  return {
    accept(client) {
      known(client).once('data', (start: Buffer) => {
        if (start.length >= 8 && start.readInt32BE(4) === PROTOCOL_3) return void serve(client, start)
        // A connection of its own, such as one that cancels a statement.
        const socket = toServer()
        socket.write(start)
        client.pipe(socket).pipe(client)
      })
    },
    stop() {
      for (const stream of streams) stream.destroy()
    },
  }
}

function pass(chunk: Buffer, from: Duplex, to: Duplex): void {
  if (chunk.length === 0 || to.write(chunk)) return
  from.pause()
  to.once('drain', () => from.resume())
}
