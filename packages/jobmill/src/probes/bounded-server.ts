/** A Node HTTP server whose clients can hold neither time nor memory for long. Not listening yet. */
import { createServer, type Server } from 'node:http'
import { inTurn, type RequestListener } from './in-turn.ts'

export interface ServerBounds {
  /** The time in which the headers of a request must arrive. */
  readonly headersMs: number
  /** The time in which a whole request must arrive; 0 for no limit. */
  readonly requestMs: number
}

/** How often Node checks for slow requests. Its default of 30 s would turn a timeout of 30 s into 60 s. */
const CHECK_MS = 1_000
/** The buffer of an unread body or response. With many slow callers, these buffers dominate memory. */
const HOLD_BYTES = 16 * 1_024

export function boundedServer(listener: RequestListener, { headersMs, requestMs }: ServerBounds): Server {
  const options = { highWaterMark: HOLD_BYTES, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(options, inTurn(listener))
  server.requestTimeout = requestMs
  server.headersTimeout = headersMs
  // No limit: older versions of Node silently drop all headers after the first 1,000, so a client could hide
  // the headers that a proxy appends. Their total size is still limited.
  server.maxHeadersCount = 0
  return server
}
