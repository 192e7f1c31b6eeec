/**
 * Reads request bodies, only after the role check of a route, so that an anonymous caller cannot fill memory.
 * A body is JSON, has bounded size and time, and shares a byte budget with all other bodies of the process.
 */
import type { Context, MiddlewareHandler } from 'hono'
import type { Platform } from 'jobmill'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import type { ByteBudget, Share } from './byte-budget.ts'
import { isRead } from './reads.ts'

/** The time in which a request must arrive completely. */
export const ARRIVES_WITHIN_MS = 30_000

export interface BodyOptions {
  readonly maxBodyBytes: number
  readonly budget: ByteBudget
  readonly platform: Platform
}

/**
 * Reads the body for a route, after its role check. Access control provides the reader, because it knows the
 * options.
 */
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
      // The parsed body is held until the route has answered.
      share.release()
    }
  }
}

/**
 * Closes a connection whose body never ends. Node has this timeout only for a whole server, and passthrough
 * routes may stream without a time limit.
 */
function closeWhenLate(c: Context<Env>, platform: Platform): () => void {
  const incoming = c.env?.incoming
  if (incoming === undefined || incoming.complete !== false || isRead(c.req.method)) return () => {}
  const late = platform.timer(ARRIVES_WITHIN_MS, () => {
    if (incoming.complete === false) incoming.destroy?.()
  })
  return () => late.cancel()
}

/** Resolves with null if the route may parse the body. */
async function accept(c: Context<Env>, mostBytes: number, share: Share): Promise<Response | null> {
  const length = c.req.header('content-length')
  // A server enforces the declared length. A host server may pass on a body without one.
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

/** Resolves with the bytes, or with the response that refuses them. */
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
    // The caller disconnected or was too slow. That is not an error of this process, so it is not logged.
    return problem('BODY_NOT_JSON', { detail: 'the body is incomplete', fix: 'Send the request again' })
  }
  return new Uint8Array(Buffer.concat(chunks))
}

function tooLarge(mostBytes: number): Response {
  return problem('TOO_LARGE', { detail: `the body is too large (max ${mostBytes} bytes)` })
}

function busy(): Response {
  return problem('BUSY', {
    detail: 'too many request bodies in progress',
    fix: 'Send the request again in a moment',
  })
}
