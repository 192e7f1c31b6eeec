/**
 * Reads request bodies, only after the role check of a route, so that an anonymous caller cannot fill memory.
 * A body is JSON, has bounded size, values and time, and shares a budget with all other bodies.
 */
import type { Context, MiddlewareHandler } from 'hono'
import type { Platform } from 'jobmill'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import type { Settings } from '../options.ts'
import { byteBudget, type Share } from './byte-budget.ts'
import { jsonWeight } from './json-weight.ts'
import { isRead } from './reads.ts'

/** The time in which a request must arrive completely. */
export const ARRIVES_WITHIN_MS = 30_000

/** Larger bodies are parsed one per turn of the event loop, so that they do not delay other requests. */
const LARGE_CHARS = 65_536

/**
 * Reads the body for a route, after its role check. Access control provides the reader, because it knows the
 * options.
 */
export const takesBody: MiddlewareHandler<Env> = (c, next) => c.get('readBody')(c, next)

export function bodyReader(
  { maxBodyBytes, maxBodyValues, maxBodiesBytes }: Settings,
  platform: Platform,
): MiddlewareHandler<Env> {
  const budget = byteBudget(maxBodiesBytes)
  let last = Promise.resolve()

  /** Resolves for only one body in each turn of the event loop. */
  const ownTurn = (): Promise<void> =>
    (last = last.then(() => new Promise<void>((resolve) => platform.nextTurn(resolve))))

  const tooLarge = (): Response =>
    problem('TOO_LARGE', { detail: `the body is too large (max ${maxBodyBytes} bytes)` })

  /** Resolves with null if the route may parse the body. */
  async function accept(c: Context<Env>, share: Share): Promise<Response | null> {
    const length = c.req.header('content-length')
    // A server enforces the declared length. A host server may pass on a body without one.
    const declared = Number(length ?? 0)
    if (declared > maxBodyBytes) return tooLarge()
    if (!share.take(declared)) return busy()
    let hasBody = declared > 0
    if (length === undefined && !isRead(c.req.method) && c.req.raw.body !== null) {
      const bytes = await readAll(c.req.raw.body, share)
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
    return hasBody ? weigh(c, share) : null
  }

  /** Resolves with the bytes, or with the response that refuses them. */
  async function readAll(
    body: ReadableStream<Uint8Array>,
    share: Share,
  ): Promise<Uint8Array<ArrayBuffer> | Response> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of body) {
        bytes += chunk.byteLength
        if (bytes > maxBodyBytes) return tooLarge()
        if (!share.take(chunk.byteLength)) return busy()
        chunks.push(chunk)
      }
    } catch {
      return incomplete()
    }
    return new Uint8Array(Buffer.concat(chunks))
  }

  /** Refuses a body that would take too much memory once it is parsed. Hono keeps the text for the route. */
  async function weigh(c: Context<Env>, share: Share): Promise<Response | null> {
    const text = await c.req.text().catch(() => null)
    if (text === null) return incomplete()
    if (text.length > LARGE_CHARS) await ownTurn()
    const weight = jsonWeight(text, maxBodyValues)
    if (weight === null)
      return problem('TOO_LARGE', {
        detail: `the body has too many values (max ${maxBodyValues} list items, keys and values)`,
        fix: 'Split it into several requests, or store the data elsewhere and pass a reference',
      })
    return share.take(weight) ? null : busy()
  }

  return async (c, next) => {
    const share = budget.open()
    const endTimer = closeWhenLate(c, platform)
    try {
      const refusal = await accept(c, share)
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

/** The caller disconnected or was too slow. That is not an error of this process, so it is not logged. */
function incomplete(): Response {
  return problem('BODY_NOT_JSON', { detail: 'the body is incomplete', fix: 'Send the request again' })
}

function busy(): Response {
  return problem('BUSY', {
    detail: 'too many request bodies in progress',
    fix: 'Send the request again in a moment',
  })
}
