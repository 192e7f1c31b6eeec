/** Serves only probes and metrics, for a worker without the API: nothing here can change or show a job. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { Mill } from '../runtime/mill.ts'
import { holderOf, readTokens } from './tokens.ts'
import { boundedServer } from './bounded-server.ts'
import { notListening } from './not-listening.ts'

export interface ProbeOptions {
  /** 0 for any free port. */
  readonly port: number
  readonly bind: string
  /** Tokens that may read /metrics, one "name role token" per line. Without tokens, /metrics is public. */
  readonly tokens?: string | undefined
  readonly onError?: (error: unknown, what: string) => void
  readonly platform?: Platform
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'
const JSON_TYPE = 'application/json'
/** A valid request is one line and a few headers. */
const ARRIVES_WITHIN_MS = 10_000
const MOST_CONNECTIONS = 100
/** Metrics cost a few database reads, so they are computed at most once per second. */
const METRICS_EVERY_MS = 1_000

export async function serveProbes(
  mill: Mill<never>,
  options: ProbeOptions,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const { port, bind } = options
  const answerTo = answers(mill, options)
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answerTo(request).then(
      (answer) => send(request, response, answer),
      (error: unknown) => {
        options.onError?.(error, `${request.method} ${pathOf(request)}`)
        send(request, response, problem(503, 'UNAVAILABLE'))
      },
    )
  }
  const server = boundedServer(listener, { headersMs: ARRIVES_WITHIN_MS, requestMs: ARRIVES_WITHIN_MS })
  // The probes of a process manager must be answered, however many connections other clients open.
  replaceIdleConnections(server, MOST_CONNECTIONS)
  server.listen(port, bind)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error, port, bind)
  }
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function answers(
  mill: Mill<never>,
  { tokens, platform = systemPlatform }: ProbeOptions,
): (request: IncomingMessage) => Promise<Answer> {
  const known = tokens === undefined ? null : readTokens(tokens, 'tokens')
  let last: { readonly at: number; readonly text: Promise<string> } | null = null

  function metrics(): Promise<string> {
    const now = platform.monotonic()
    if (last === null || now - last.at >= METRICS_EVERY_MS) last = { at: now, text: mill.prometheus() }
    return last.text
  }

  function mayRead({ headers }: IncomingMessage): boolean {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    return known === null || holderOf(known, token ?? '') !== null
  }

  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return problem(405, 'METHOD_NOT_ALLOWED')
    switch (pathOf(request)) {
      case '/healthz':
        return json(200, { alive: true })
      case '/readyz': {
        const readiness = await mill.readiness()
        return json(readiness.ready ? 200 : 503, readiness)
      }
      case '/metrics':
        if (!mayRead(request))
          return problem(401, request.headers.authorization === undefined ? 'TOKEN_MISSING' : 'TOKEN_UNKNOWN')
        return { status: 200, type: TEXT, body: await metrics() }
      default:
        return problem(404, 'ROUTE_UNKNOWN')
    }
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    // The body of such a request is not read, so the connection cannot be reused.
    ...(request.method !== 'GET' && { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function json(status: number, value: unknown): Answer {
  return { status, type: JSON_TYPE, body: JSON.stringify(value) }
}

function problem(status: number, code: string): Answer {
  return json(status, { code })
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

/**
 * Limits the connections: a new one replaces the one that has been idle for the longest time. Refuses a new
 * one only if all others have a request in progress.
 */
function replaceIdleConnections(server: Server, most: number): void {
  let open = 0
  /** Connections without a request in progress, the longest idle one first. */
  const idle = new Set<Socket>()
  server.on('connection', (socket) => {
    if (open >= most) {
      const [longest = socket] = idle
      idle.delete(longest)
      longest.destroy()
    }
    open += 1
    if (!socket.destroyed) idle.add(socket)
    socket.once('close', () => {
      open -= 1
      idle.delete(socket)
    })
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    response.once('close', () => void (socket.destroyed || idle.add(socket)))
  })
}
