/** A Node server for a fetch handler: timeouts, graceful close, and errors when it cannot listen. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { getRequestListener } from '@hono/node-server'
import type { Platform } from 'jobmill'
import { boundedServer, notListening, serversOf, stopSignalOf } from 'jobmill/internal'
import { ownAnswer } from '../apps.ts'
import { ARRIVES_WITHIN_MS } from '../access/body.ts'
import { hostInvalid, isAuthority } from '../access/host.ts'

interface SocketOptions {
  readonly port: number
  readonly bind: string
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>
  /** Allows bodies without a time limit, for passthrough routes that stream them. */
  readonly slowBodies: boolean
  readonly platform: Platform
  /** The time in which the headers of a request must arrive. */
  readonly headersMs?: number
  /** How long a client may stop reading while a response waits to be sent. */
  readonly unreadMs?: number
  /** Called when it starts to close, to end event streams. */
  readonly onClose?: () => void
}

/** How long the last responses may take. */
const LAST_MS = 2_000
const IDLE_MS = 50

/** The adapter cannot parse some of these requests, so its error handler sends the same response. */
const refuseHost = getRequestListener(hostInvalid, {
  overrideGlobalObjects: false,
  errorHandler: hostInvalid,
})

/**
 * Listens until the mill stops: a server of a stopped mill would only keep the process alive. Rejects with
 * MILL_STOPPED when the mill was stopped.
 */
export async function listenUntilStop(mill: object, options: SocketOptions) {
  const stopped = stopSignalOf(mill)
  stopped?.throwIfAborted()
  const { url, close } = await listenOn(options)
  const servers = serversOf(mill)
  // The stop of the mill waits for `close`, because requests in flight still use the store.
  servers?.add(close)
  // For a server that began to listen after the stop had closed the others.
  const stop = (): void => void close()
  stopped?.addEventListener('abort', stop, { once: true })
  if (stopped?.aborted === true) await close()
  stopped?.throwIfAborted()
  return {
    url,
    close: (): Promise<void> => {
      servers?.delete(close)
      stopped?.removeEventListener('abort', stop)
      return close()
    },
  }
}

/** Returns a URL without a path. */
export async function listenOn(options: SocketOptions) {
  const { port, bind, fetch, slowBodies, platform, unreadMs, onClose } = options
  const { headersMs = ARRIVES_WITHIN_MS } = options
  let closing: Promise<void> | null = null
  const answer = getRequestListener(
    async (request, env) => {
      const response = await fetch(request, env)
      if (!cancelWith(env.outgoing as ServerResponse, response.body)) return new Response(null)
      if (closing === null) return response
      const last = ownAnswer(response)
      // A client with an open connection would send further requests.
      last.headers.set('connection', 'close')
      return last
    },
    { overrideGlobalObjects: false },
  )
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    outgoing.once('finish', () => endUnread(incoming, platform))
    void (isAuthority(incoming.headers.host) ? answer : refuseHost)(incoming, outgoing)
  }
  const server = boundedServer(listener, {
    headersMs,
    requestMs: slowBodies ? 0 : ARRIVES_WITHIN_MS,
    ...(unreadMs !== undefined && { unreadMs }),
  })
  server.listen(port, bind)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error, port, bind)
  }
  async function close(): Promise<void> {
    onClose?.()
    const closed = once(server, 'close')
    server.close()
    // Answers requests in flight, then closes their connections. Does not wait for callers that do not read
    // their response.
    const endIdle = (): void => {
      server.closeIdleConnections()
      idle = platform.timer(IDLE_MS, endIdle)
    }
    let idle = platform.timer(0, endIdle)
    const late = platform.timer(LAST_MS, () => server.closeAllConnections())
    await closed
    idle.cancel()
    late.cancel()
  }
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: (): Promise<void> => (closing ??= close()),
  }
}

/**
 * Closes a connection whose request was answered before its body arrived. Without this, a body without a time
 * limit would hold the connection. The delay lets the client read the response.
 */
function endUnread(incoming: IncomingMessage, platform: Platform): void {
  if (incoming.complete) return
  const { socket } = incoming
  const late = platform.timer(LAST_MS, () => void (incoming.complete || socket.destroy()), { unref: true })
  incoming.once('close', () => late.cancel())
}

/**
 * Cancels the body when its connection closes, and returns false if it is closed already. The adapter does so
 * only after it has started to send, so a client that leaves earlier would leak an open file or stream.
 */
function cancelWith(outgoing: ServerResponse, body: ReadableStream | null): boolean {
  let holder: Pick<ReadableStream, 'cancel'> | null = body
  const cancel = (): void => void holder?.cancel().catch(() => {})
  if (outgoing.destroyed) cancel()
  else if (body !== null) {
    const read = body.getReader.bind(body) as () => ReadableStreamDefaultReader
    // Only the reader can cancel a body that is being read.
    Object.defineProperty(body, 'getReader', { value: () => (holder = read()) })
    outgoing.once('close', cancel)
  }
  return !outgoing.destroyed
}
