/** Bodies: JSON that says so, and not more of it than we want to hold. */
import type { MiddlewareHandler } from 'hono'
import type { Platform } from '../../platform/platform.ts'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import { isRead } from './reads.ts'

/** In which a request has to arrive, to its last byte. */
export const ARRIVES_WITHIN_MS = 30_000

/**
 * A body that never comes to its end must not hold a connection. Node can say that for a whole server only, and what stands beside us may take as long as it
 * likes.
 */
export function bodyInTime(platform: Platform): MiddlewareHandler<Env> {
  return async (c, next) => {
    const incoming = c.env?.incoming
    if (incoming === undefined || incoming.complete !== false || isRead(c.req.method)) return next()
    const late = platform.timer(ARRIVES_WITHIN_MS, () => {
      if (incoming.complete === false) incoming.destroy?.()
    })
    try {
      return await next()
    } finally {
      late.cancel()
    }
  }
}

export function bodyWithin(mostBytes: number): MiddlewareHandler<Env> {
  const tooLarge = (): Response => problem('TOO_LARGE', { detail: `a body may have ${mostBytes} bytes` })
  return async (c, next) => {
    const length = c.req.header('content-length')
    // Of a body that says its length a server takes no more than that. Mounted, one may come without.
    if (Number(length ?? 0) > mostBytes) return tooLarge()
    let hasBody = Number(length ?? 0) > 0
    if (length === undefined && !isRead(c.req.method) && c.req.raw.body !== null) {
      const bytes = await readWithin(c.req.raw.body, mostBytes)
      if (bytes === null) return tooLarge()
      hasBody = bytes.byteLength > 0
      const { method, url, headers } = c.req.raw
      c.req.raw = new Request(url, { method, headers, ...(hasBody && { body: bytes }) })
    }
    if (hasBody && !/^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? ''))
      return problem('MEDIA_TYPE_WRONG', {
        field: 'content-type',
        fix: 'Send content-type: application/json',
      })
    c.set('hasBody', hasBody)
    return next()
  }
}

/** Null when there is more. */
async function readWithin(
  body: ReadableStream<Uint8Array>,
  mostBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > mostBytes) return null
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
