/**
 * Answers the requests of a connection one after the other. Node parses up to 64 KiB of requests that a
 * client sends ahead (pipelining) and would start them all, even if the client reads no response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** How many requests of a connection may wait. A client that sends more is disconnected. */
const MOST_WAITING = 100

/** Starts a request when the response before it was handed to the operating system. */
export function inTurn(answer: RequestListener): RequestListener {
  /** The waiting requests of each connection that has a request in progress. */
  const waiting = new WeakMap<Socket, (() => void)[]>()

  return (incoming, outgoing) => {
    const { socket } = incoming
    const start = (): void => {
      outgoing.once('close', next)
      answer(incoming, outgoing)
    }
    const next = (): void => {
      const after = socket.destroyed ? undefined : waiting.get(socket)?.shift()
      if (after === undefined) waiting.delete(socket)
      else after()
    }
    // After the connection was closed, Node still emits the remaining requests of the chunk that it has read.
    if (socket.destroyed) return
    const before = waiting.get(socket)
    if (before === undefined) {
      waiting.set(socket, [])
      start()
    } else if (before.length < MOST_WAITING) before.push(start)
    else socket.destroy()
  }
}
