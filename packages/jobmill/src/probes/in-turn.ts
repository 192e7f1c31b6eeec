/**
 * Answers the requests of a connection one after the other. Node parses up to 64 KiB of requests that a
 * client sends ahead (pipelining) and would start them all, even if the client reads no response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** How many requests of a connection may wait. A client that sends more is disconnected. */
const MOST_WAITING = 100
/** While this many requests wait in the process, at about 2 KiB each, fewer of a connection may wait. */
const MANY_WAITING = 10_000
const FEW_WAITING = 8

export interface InTurn {
  /** Starts a request when the response before it was handed to the operating system. */
  readonly listener: RequestListener
  /** Whether a request of this connection is in progress. */
  readonly isBusy: (socket: Socket) => boolean
}

export function inTurn(answer: RequestListener): InTurn {
  /** The waiting requests of each connection that has a request in progress. */
  const waiting = new WeakMap<Socket, (() => void)[]>()
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
    } else if (before.length < (total < MANY_WAITING ? MOST_WAITING : FEW_WAITING)) {
      before.push(start)
      total += 1
      // Node resumes the connection after each request that it parses, so pause it after the whole chunk.
      queueMicrotask(() => void (before.length > 0 && socket.pause()))
    } else socket.destroy()
  }

  function next(socket: Socket): void {
    const after = waiting.get(socket) ?? []
    const start = socket.destroyed ? undefined : after.shift()
    if (start === undefined) {
      total -= after.length
      waiting.delete(socket)
      return
    }
    total -= 1
    if (after.length === 0) socket.resume()
    start()
  }

  return { listener, isBusy: (socket) => waiting.has(socket) }
}
