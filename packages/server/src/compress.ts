/**
 * Compresses large responses of routes that declare that they contain no secrets. The size of a compressed
 * response could reveal a secret next to text that the sender of the request chose (BREACH). So payloads,
 * results, logs, errors and audit entries are not compressed.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import type { Env } from './env.ts'

/** For smaller responses, the headers cost more than compression saves. */
const LEAST_BYTES = 1_024

const ENCODINGS = [
  // Fast: it compresses better than gzip in the same time.
  ['br', promisify(brotliCompress), { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }],
  ['gzip', promisify(gzip), {}],
] as const

/** Runs in the thread pool, so that the event loop does not wait for it. */
export const compressed: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  if (c.req.method !== 'GET' || c.res.status !== 200 || c.get('hasSecrets') === true) return
  c.res.headers.append('vary', 'accept-encoding')
  const accepted = acceptedBy(c.req.header('accept-encoding') ?? '')
  const encoding = ENCODINGS.find(([name]) => accepted.has(name))
  if (encoding === undefined) return
  const [name, pack, options] = encoding
  const whole = new Uint8Array(await c.res.arrayBuffer())
  const { status, headers } = c.res
  const isLarge = whole.length > LEAST_BYTES
  const body = isLarge ? new Uint8Array(await pack(whole, options)) : whole
  if (isLarge) headers.set('content-encoding', name)
  headers.set('content-length', String(body.length))
  c.res = undefined
  c.res = new Response(body, { status, headers })
}

export const asItIs: MiddlewareHandler<Env> = (_c, next) => next()

/** The encodings that a client accepts, without those that it refuses with `q=0`. */
function acceptedBy(header: string): ReadonlySet<string> {
  const parts = header.split(',').map((part) => part.trim().toLowerCase())
  return new Set(
    parts.filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part)).map((part) => part.split(';')[0] ?? ''),
  )
}
