/** A Node HTTP server that limits the time and the memory that clients can take. It does not listen yet. */
import { createServer, type Server, type ServerResponse } from 'node:http'
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
/**
 * A request with this many headers is refused. Node limits only their characters: 15,000 short ones would
 * take 350 KiB of memory for each connection, even while the request is incomplete.
 */
const MOST_HEADERS = 1_000

export function boundedServer(answer: RequestListener, bounds: ServerBounds): Server {
  const unsent = unsentResponses(bounds.unsentBytes ?? UNSENT_BYTES)
  const { ServerResponse: Response, attach, isBusy } = inTurn(bounds.waitingBytes ?? WAITING_BYTES, unsent)
  const options = {
    highWaterMark: HOLD_BYTES,
    connectionsCheckingInterval: CHECK_MS,
    ServerResponse: Response,
  }
  // Node silently drops headers beyond its limit, so a client could hide those that a proxy appends. Such a
  // request is therefore not answered at all.
  const server = createServer(options, (incoming, outgoing) =>
    incoming.rawHeaders.length < 2 * MOST_HEADERS ? answer(incoming, outgoing) : refuseHeaders(outgoing),
  )
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
  server.maxHeadersCount = MOST_HEADERS
  return server
}

function refuseHeaders(outgoing: ServerResponse): void {
  outgoing.writeHead(431, { connection: 'close', 'content-type': 'text/plain' })
  outgoing.end(`too many headers (must be fewer than ${MOST_HEADERS})\n`)
}
