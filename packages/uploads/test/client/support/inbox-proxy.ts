/**
 * A proxy between client and inbox, which passes everything on unless a test overrides or changes a response.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

export interface ProxiedRequest {
  readonly method: string
  /** The path after the mailbox: `/uploads/ID/content`. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Forwards the request to the inbox. */
  readonly forward: () => Promise<Response>
}

/** The replacement response, or null to pass the request on. `hang` never responds. */
type Override = (request: ProxiedRequest) => Promise<Response | 'hang' | null> | Response | 'hang' | null

export interface InboxProxy {
  readonly url: string
  /** Every request, as `GET /uploads`. */
  readonly requests: string[]
  /** Applies from now on. */
  readonly override: (next: Override) => void
  /** Closes every connection. */
  readonly cut: () => void
}

/** One for a whole test file; each test starts without an override. */
export function proxyForAll(upstream: () => string): () => InboxProxy {
  let override: Override | null = null
  const requests: string[] = []
  const server = createServer(
    (request, response) => void pass(request, response).catch(() => response.destroy()),
  )

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = (request.url ?? '').replace(/^\/mailboxes\/[^/]+/, '')
    const method = request.method ?? ''
    const body = method === 'POST' && path.endsWith('/ack') ? Buffer.concat(chunks).toString() : ''
    requests.push(`${method} ${path}`)
    const clientClosed = new AbortController()
    response.on('close', () => clientClosed.abort())
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    ) as [string, string][]
    const forward = (): Promise<Response> =>
      fetch(`${upstream()}${request.url}`, {
        method,
        headers,
        signal: clientClosed.signal,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
    const answer =
      (await override?.({ method, path, headers: request.headers, body, forward })) ?? (await forward())
    if (answer === 'hang') return
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      await new Promise<void>((written) => response.write(chunk, () => written()))
      if (response.destroyed) break
    }
    response.end()
  }

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(() => {
    override = null
    requests.length = 0
  })
  afterAll(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  return () => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    override: (next) => void (override = next),
    cut: () => server.closeAllConnections(),
  })
}
