/** A Node HTTP server that limits the time and the memory that clients can take. It does not listen yet. */
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { inTurn, type RequestListener } from './in-turn.ts'
import { unsentResponses } from './unsent.ts'

export interface ServerBounds {
  /** The time in which the headers of a request must arrive. */
  readonly headersMs: number
  /** The time in which a whole request must arrive; 0 for no limit. */
  readonly requestMs: number
  /** How long a client may stop reading while a response waits to be sent. Default: 30 s. */
  readonly unreadMs?: number
  /** How many bytes of pipelined requests may wait in this server. Default: 64 MiB. */
  readonly waitingBytes?: number
  /** How many bytes of responses this server may hold for slow clients. Default: 64 MiB. */
  readonly unsentBytes?: number
}

/** How often Node checks for slow requests. Its default of 30 s would turn a timeout of 30 s into 60 s. */
const CHECK_MS = 1_000
/** The buffer of an unread body or response. With many slow callers, these buffers dominate memory. */
const HOLD_BYTES = 16 * 1_024
const UNREAD_MS = 30_000
const WAITING_BYTES = 64 * 1_024 * 1_024
const UNSENT_BYTES = 64 * 1_024 * 1_024

export function boundedServer(answer: RequestListener, bounds: ServerBounds): Server {
  const unsent = unsentResponses(bounds.unsentBytes ?? UNSENT_BYTES)
  const { ServerResponse, attach, isBusy } = inTurn(bounds.waitingBytes ?? WAITING_BYTES, unsent)
  const options = { highWaterMark: HOLD_BYTES, connectionsCheckingInterval: CHECK_MS, ServerResponse }
  const server = createServer(options, answer)
  attach(server)
  server.requestTimeout = bounds.requestMs
  server.headersTimeout = bounds.headersMs
  // Node emits 'timeout' if nothing was read or written for this time, and after its keep-alive timeout. A
  // slow handler or a quiet event stream has nothing to send, so its connection stays open.
  server.timeout = bounds.unreadMs ?? UNREAD_MS
  server.on(
    'timeout',
    (socket: Socket) => void ((isBusy(socket) && socket.writableLength === 0) || socket.destroy()),
  )
  // No limit: older versions of Node silently drop all headers after the first 1,000, so a client could hide
  // the headers that a proxy appends. Their total size is still limited.
  server.maxHeadersCount = 0
  return server
}
