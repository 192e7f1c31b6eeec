/**
 * Parses the requests of a connection one after the other. Node would parse all requests that a client sends
 * ahead (pipelining): up to 3,600 of one chunk, each with several KiB of objects, even if the connection is
 * destroyed. So the parser of Node gets the bytes of one request at a time; the rest waits in the socket.
 */
import { ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { systemPlatform } from '../platform/platform.ts'
import { joinPieces, type Pieces } from './pieces.ts'
import type { Unsent } from './unsent.ts'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** Ends the headers of a request, and a body in chunks. */
const END = '\r\n\r\n'
const [CR, LF] = [0x0d, 0x0a] as const

interface Connection {
  /** The last request that was parsed. */
  incoming: IncomingMessage | null
  /** Whether its response is in progress. */
  isBusy: boolean
  /** How many bytes of its body follow, if it has a content-length. */
  bodyBytes: number
  /** Joins the chunks of its body; null unless the body is chunked. */
  pieces: Pieces | null
  /** The last bytes that were parsed, if they can be the start of END. */
  tail: string
  /** Whether parsing waits for the next turn of the event loop. Node may resume the socket earlier. */
  isResting: boolean
  /** How many bytes wait for the end of the response. */
  waiting: number
}

/** `mostBytes` of waiting requests are kept. Beyond that, a connection that adds some is closed. */
export function inTurn(mostBytes: number, unsent: Unsent) {
  const connections = new WeakMap<Socket, Connection>()
  let total = 0

  /** Node creates a response for each request that it parses, even for those that it refuses itself. */
  class Response<Request extends IncomingMessage> extends ServerResponse<Request> {
    constructor(incoming: Request, ...options: []) {
      super(incoming, ...options)
      const { socket } = incoming
      const connection = connections.get(socket)
      if (connection === undefined) return
      connection.incoming = incoming
      connection.isBusy = true
      connection.bodyBytes = Number(incoming.headers['content-length'] ?? 0)
      connection.pieces = incoming.headers['transfer-encoding'] === undefined ? null : joinPieces(incoming)
      this.once('close', () => {
        connection.isBusy = false
        unsent.forget(socket)
        if (connection.waiting > 0) rest(socket, connection)
      })
    }

    override write(...given: unknown[]): boolean {
      const canContinue = super.write(...(given as [unknown]))
      if (this.socket !== null) unsent.note(this.socket)
      return canContinue
    }

    override end(...given: unknown[]): this {
      super.end(...(given as [unknown]))
      if (this.socket !== null) unsent.note(this.socket)
      return this
    }
  }

  const OwnResponse: typeof ServerResponse = Response

  /** Must be called before the server listens. */
  function attach(server: Server): void {
    server.on('connection', (socket) => {
      const [parse] = socket.listeners('data') as ((data: Buffer) => void)[]
      if (parse === undefined) return
      const connection = {
        incoming: null,
        isBusy: false,
        bodyBytes: 0,
        pieces: null,
        tail: '',
        isResting: false,
        waiting: 0,
      }
      connections.set(socket, connection)
      socket.on('data', (data: Buffer) => read(socket, connection, parse, data))
      socket.off('data', parse)
      socket.once('close', () => keep(connection, 0))
    })
  }

  function read(socket: Socket, connection: Connection, parse: (data: Buffer) => void, data: Buffer): void {
    keep(connection, 0)
    for (let at = 0; at < data.length;) {
      const isNext = connection.incoming?.complete !== false
      if (isNext && connection.tail === '') {
        at = afterEmptyLines(data, at)
        if (at === data.length) return
      }
      const mustWait = isNext && (connection.isBusy || !socket.writable)
      if (socket.destroyed) return
      if (mustWait || connection.isResting || socket.isPaused()) {
        socket.pause()
        socket.unshift(data.subarray(at))
        if (mustWait && !keep(connection, data.length - at)) socket.destroy()
        return
      }
      const pieces = isNext ? null : connection.pieces
      const part = data.subarray(at, pieces === null ? data.length : at + pieces.nextBytes)
      const length = lengthOf(connection, isNext, part)
      parse(part.subarray(0, length))
      at += length
      if (pieces === null) continue
      if (!pieces.flush()) socket.pause()
      // A body that no handler reads has no pieces, but parsing it takes as much time.
      if (at < data.length && (pieces.areMany || !connection.isBusy)) {
        socket.pause()
        socket.unshift(data.subarray(at))
        rest(socket, connection)
        return
      }
    }
  }

  function keep(connection: Connection, bytes: number): boolean {
    total += bytes - connection.waiting
    connection.waiting = bytes
    return total <= mostBytes
  }

  return {
    ServerResponse: OwnResponse,
    attach,
    /** Whether a request of this connection is in progress. */
    isBusy: (socket: Socket) => connections.get(socket)?.isBusy === true,
  }
}

/** Continues in the next turn, so that one client does not keep the process from others. */
function rest(socket: Socket, connection: Connection): void {
  connection.isResting = true
  systemPlatform.nextTurn(() => {
    connection.isResting = false
    // Node resumes the socket when the body is read.
    if (connection.incoming?.complete !== false || connection.pieces?.isFull() !== true) socket.resume()
  })
}

/**
 * Skips empty lines before a request, as the parser of Node does. It would get four bytes at a time, because
 * two empty lines look like the end of a request.
 */
function afterEmptyLines(data: Buffer, from: number): number {
  let at = from
  while (data[at] === CR || data[at] === LF) at += 1
  return at
}

/** How many bytes of `data` belong to at most one request. */
function lengthOf(connection: Connection, isNext: boolean, data: Buffer): number {
  const { tail } = connection
  if (!isNext && connection.bodyBytes > 0) {
    const length = Math.min(data.length, connection.bodyBytes)
    connection.bodyBytes -= length
    return length
  }
  connection.tail = ''
  const start = tail === '' ? -1 : (tail + data.toString('latin1', 0, END.length - 1)).indexOf(END)
  if (start >= 0) return start + END.length - tail.length
  const found = data.indexOf(END, 0, 'latin1')
  if (found >= 0) return found + END.length
  const last = tail + data.toString('latin1', Math.max(0, data.length - END.length + 1))
  connection.tail = last.slice(1 - END.length)
  return data.length
}
