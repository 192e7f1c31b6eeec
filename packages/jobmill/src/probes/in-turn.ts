/**
 * Answers the requests of a connection one after the other. Node parses up to 64 KiB of requests that a
 * client sends ahead (pipelining) and would start them all, even if the client reads no response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** How many requests of a connection may wait, and their headers. Beyond that, it is closed. */
const MOST_WAITING = 100
const MOST_HEADERS = 4_000
/**
 * How many headers of waiting requests the process keeps, at about 100 bytes each. Beyond that, a connection
 * whose requests would have to wait is closed.
 */
const MOST_HEADERS_IN_ALL = 200_000

interface Waiting {
  readonly start: () => void
  /** Counts the request line as a header. */
  readonly headers: number
}

export interface InTurn {
  /** Starts a request when the response before it was handed to the operating system. */
  readonly listener: RequestListener
  /** Whether a request of this connection is in progress. */
  readonly isBusy: (socket: Socket) => boolean
}

export function inTurn(answer: RequestListener): InTurn {
  /** The waiting requests of each connection that has a request in progress. */
  const waiting = new WeakMap<Socket, Waiting[]>()
  let total = 0

  function listener(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    // After the connection was closed, Node still emits the remaining requests of the chunk that it has read.
    if (socket.destroyed) return
    const start = (): void => {
      outgoing.once('close', () => next(socket))
      answer(incoming, outgoing)
    }
    const before = waiting.get(socket)
    if (before === undefined) {
      waiting.set(socket, [])
      start()
      return
    }
    const headers = 1 + incoming.rawHeaders.length / 2
    if (
      before.length < MOST_WAITING &&
      headersOf(before) + headers <= MOST_HEADERS &&
      total + headers <= MOST_HEADERS_IN_ALL
    ) {
      before.push({ start, headers })
      total += headers
      // Node resumes the connection after each request that it parses, so pause it after the whole chunk.
      queueMicrotask(() => void (before.length > 0 && socket.pause()))
    } else socket.destroy()
  }

  function next(socket: Socket): void {
    const after = waiting.get(socket) ?? []
    const first = socket.destroyed ? undefined : after.shift()
    if (first === undefined) {
      total -= headersOf(after)
      waiting.delete(socket)
      return
    }
    total -= first.headers
    if (after.length === 0) socket.resume()
    first.start()
  }

  return { listener, isBusy: (socket) => waiting.has(socket) }
}

function headersOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { headers }) => sum + headers, 0)
}
