/** The HTTP server: reads calls and writes their answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jsonIn, type Params } from './methods/params.ts'
import { badRequest, Refusal } from './refusal.ts'

const MAX_BODY_BYTES = 1024 * 1024

export interface Incoming {
  readonly token: string
  readonly method: string
  readonly params: Params
  readonly gone: AbortSignal
}

export type Outgoing =
  | 'reset'
  | 'lost'
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }

export async function listen(port: number, answer: (call: Incoming) => Promise<Outgoing>) {
  const server = createServer((request, response) => void serve(request, response, answer))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (call: Incoming) => Promise<Outgoing>,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  let outgoing: Outgoing
  try {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const [, token, method] = /^\/bot([^/]+)\/([^/]+)$/.exec(pathname) ?? []
    const params = { ...Object.fromEntries(searchParams), ...(await bodyOf(request)) }
    outgoing =
      token === undefined || method === undefined
        ? asAnswer(new Refusal(404, 'Not Found'))
        : await answer({ token: decodeURIComponent(token), method, params, gone: gone.signal })
  } catch (error) {
    outgoing = asAnswer(error)
  }
  // `reset`: the call did nothing. `lost`: the call was executed, and its response is dropped.
  if (outgoing === 'reset') return void request.socket.resetAndDestroy()
  if (outgoing === 'lost') return void request.socket.destroy()
  const { status, body, headers } = outgoing
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

export function asAnswer(error: unknown): Exclude<Outgoing, string> {
  const { code, message, parameters } =
    error instanceof Refusal ? error : new Refusal(500, `Internal Server Error: ${String(error)}`)
  const retryAfter = parameters?.['retry_after']
  return {
    status: code,
    body: { ok: false, error_code: code, description: message, ...(parameters && { parameters }) },
    ...(typeof retryAfter === 'number' && { headers: { 'retry-after': String(retryAfter) } }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<Params> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Read an oversized body to its end without storing it: a client that is still sending would miss the
    // answer.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (bytes > MAX_BODY_BYTES) throw new Refusal(413, 'Request Entity Too Large')
  const text = Buffer.concat(chunks).toString()
  const type = request.headers['content-type'] ?? ''
  if (text === '') return {}
  if (type.startsWith('application/json')) return jsonOf(text)
  if (type.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(text))
  throw badRequest(`the fake reads JSON and urlencoded forms, not ${type}`)
}

function jsonOf(text: string): Params {
  const value = jsonIn(text)
  if (value === undefined) throw badRequest("can't parse JSON object")
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('object expected')
  return value as Params
}
