/** A Node server for a function from a request to an answer: its times, its end, and what is said where it cannot listen. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { getRequestListener } from '@hono/node-server'
import { JobmillError, shown } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { ownAnswer } from './apps.ts'
import { ARRIVES_WITHIN_MS } from './access/body.ts'
import { hostInvalid, isAuthority } from './access/host.ts'

export interface SocketOptions {
  readonly port: number
  readonly bind: string
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>
  /** Bodies may take as long as they like: where passthrough routes stream them. */
  readonly slowBodies: boolean
  readonly platform: Platform
  /** In which the headers of a request have to arrive. */
  readonly headersMs?: number
  /** Called as it closes, before the last answers: ends what is being listened to. */
  readonly onClose?: () => void
}

export interface Listening {
  /** Without a path. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** How long the last answers may take. */
const LAST_MS = 2_000
const IDLE_MS = 50
/** Node looks for requests that take too long so often; by itself twice a minute, so that 30 s would become 60. */
const CHECK_MS = 1_000
/** Of a body that nobody reads yet, and of an answer that its caller does not: with many of them at once this is what memory goes to. */
const HOLD_BYTES = 16 * 1_024

/** The adapter cannot parse some of these requests at all, so its error handler answers with the same. */
const refuseHost = getRequestListener(hostInvalid, {
  overrideGlobalObjects: false,
  errorHandler: hostInvalid,
})

export async function listenOn(options: SocketOptions): Promise<Listening> {
  const { port, bind, fetch, slowBodies, platform, headersMs = ARRIVES_WITHIN_MS, onClose } = options
  let closing: Promise<void> | null = null
  const answer = getRequestListener(
    async (request, env) => {
      const response = await fetch(request, env)
      if (closing === null) return response
      const last = ownAnswer(response)
      // Who has a connection open would go on asking.
      last.headers.set('connection', 'close')
      return last
    },
    { overrideGlobalObjects: false },
  )
  const serverOptions = { highWaterMark: HOLD_BYTES, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(serverOptions, (incoming, outgoing) => {
    const listener = isAuthority(incoming.headers.host) ? answer : refuseHost
    void listener(incoming, outgoing)
  })
  server.requestTimeout = slowBodies ? 0 : ARRIVES_WITHIN_MS
  server.headersTimeout = headersMs
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
    // What is in flight is answered, and then its connection ends; callers that do not read their answer are not waited for.
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
    close: () => (closing ??= close()),
  }
}

export function notListening(error: unknown, port: number, bind: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  const field = code === 'EADDRINUSE' || code === 'EACCES' ? 'port' : code === 'EADDRNOTAVAIL' ? 'bind' : null
  if (field === null) return error
  const why = { EADDRINUSE: 'somebody else listens there', EACCES: 'this user may not listen there' }[
    String(code)
  ]
  return new JobmillError('OPTION_INVALID', why ?? 'this machine has no such address', {
    field,
    value: shown(field === 'port' ? port : bind),
    fix: field === 'port' ? 'Choose another with --port' : 'Choose another with --bind',
    cause: error,
  })
}
