/**
 * Request bodies. They are read behind the role check of a route only, so an anonymous caller cannot make this process hold anything. A body is JSON, has a
 * bounded size, arrives in a bounded time, and shares a bounded number of bytes with all other bodies of this process.
 */
import type { Context, MiddlewareHandler } from 'hono'
import type { Platform } from '../../platform/platform.ts'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import type { ByteBudget, Share } from './byte-budget.ts'
import { isRead } from './reads.ts'

/** In which a request has to arrive, to its last byte. */
export const ARRIVES_WITHIN_MS = 30_000

export interface BodyOptions {
  readonly maxBodyBytes: number
  readonly budget: ByteBudget
  readonly platform: Platform
}

/** For a route, behind its role check. The reader itself is put into the context by the door, which knows the options. */
export const takesBody: MiddlewareHandler<Env> = (c, next) => c.get('readBody')(c, next)

export function bodyReader({ maxBodyBytes, budget, platform }: BodyOptions): MiddlewareHandler<Env> {
  return async (c, next) => {
    const share = budget.open()
    const endTimer = closeWhenLate(c, platform)
    try {
      const refusal = await accept(c, maxBodyBytes, share)
      return refusal ?? (await next())
    } finally {
      endTimer()
      // What was parsed of it is held until the route has answered.
      share.release()
    }
  }
}

/**
 * A body that never comes to its end must not hold a connection. Node can say that for a whole server only, and passthrough routes may take as long as they
 * like.
 */
function closeWhenLate(c: Context<Env>, platform: Platform): () => void {
  const incoming = c.env?.incoming
  if (incoming === undefined || incoming.complete !== false || isRead(c.req.method)) return () => {}
  const late = platform.timer(ARRIVES_WITHIN_MS, () => {
    if (incoming.complete === false) incoming.destroy?.()
  })
  return () => late.cancel()
}

/** Null for a body that the route may parse. */
async function accept(c: Context<Env>, mostBytes: number, share: Share): Promise<Response | null> {
  const length = c.req.header('content-length')
  // Of a body that says its length a server takes no more than that. Mounted, one may come without.
  const declared = Number(length ?? 0)
  if (declared > mostBytes) return tooLarge(mostBytes)
  if (!share.take(declared)) return busy()
  let hasBody = declared > 0
  if (length === undefined && !isRead(c.req.method) && c.req.raw.body !== null) {
    const bytes = await readAll(c.req.raw.body, mostBytes, share)
    if (!(bytes instanceof Uint8Array)) return bytes
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
  return null
}

/** The bytes, or why they are refused. */
async function readAll(
  body: ReadableStream<Uint8Array>,
  mostBytes: number,
  share: Share,
): Promise<Uint8Array<ArrayBuffer> | Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > mostBytes) return tooLarge(mostBytes)
      if (!share.take(chunk.byteLength)) return busy()
      chunks.push(chunk)
    }
  } catch {
    // The caller went away, or was too slow: that is no fault of this process, and nothing for its log.
    return problem('BODY_NOT_JSON', { detail: 'the body broke off', fix: 'Send it again' })
  }
  return new Uint8Array(Buffer.concat(chunks))
}

function tooLarge(mostBytes: number): Response {
  return problem('TOO_LARGE', { detail: `a body may have ${mostBytes} bytes` })
}

function busy(): Response {
  return problem('BUSY', {
    detail: 'this process holds as many bytes of request bodies as it may',
    fix: 'Send the request again in a moment',
  })
}
