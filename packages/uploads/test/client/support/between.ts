/**
 * A proxy between client and inbox, which passes everything on unless a test overrides or changes a response.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

export interface Passing {
  readonly method: string
  /** The path after the mailbox: `/uploads/ID/content`. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Forwards the request to the inbox. */
  readonly ask: () => Promise<Response>
}

/** The replacement response, or null to pass the request on. `hang` never responds. */
type Meddle = (passing: Passing) => Promise<Response | 'hang' | null> | Response | 'hang' | null

export interface Between {
  readonly url: string
  /** Every request, as `GET /uploads`. */
  readonly seen: string[]
  /** Applies from now on. */
  readonly meddle: (how: Meddle) => void
  /** Closes every connection. */
  readonly cut: () => void
}

/** One for a whole test file; each test starts without an override. */
export function betweenForAll(upstream: () => string): () => Between {
  let how: Meddle | null = null
  const seen: string[] = []
  const server = createServer(
    (request, response) => void pass(request, response).catch(() => response.destroy()),
  )

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = (request.url ?? '').replace(/^\/mailboxes\/[^/]+/, '')
    const method = request.method ?? ''
    const body = method === 'POST' && path.endsWith('/ack') ? Buffer.concat(chunks).toString() : ''
    seen.push(`${method} ${path}`)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    ) as [string, string][]
    const ask = (): Promise<Response> =>
      fetch(`${upstream()}${request.url}`, {
        method,
        headers,
        signal: gone.signal,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
    const said = (await how?.({ method, path, headers: request.headers, body, ask })) ?? (await ask())
    if (said === 'hang') return
    response.writeHead(said.status, Object.fromEntries(said.headers))
    response.flushHeaders()
    for await (const chunk of (said.body ?? []) as AsyncIterable<Uint8Array>) {
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
    how = null
    seen.length = 0
  })
  afterAll(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  return () => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    meddle: (next) => void (how = next),
    cut: () => server.closeAllConnections(),
  })
}
