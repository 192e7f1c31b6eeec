/** Posts the update, signed, to your service, and replies with its answer. */
import { createHmac } from 'node:crypto'
import { Dead, Snooze } from 'jobmill'
import type { HttpTarget } from '../config/config.ts'
import { jsonOf } from '../update/update.ts'
import type { Handler, HandlerContext } from './handler.ts'

const MOST_BYTES = 1_024 * 1_024
/** Statuses that mean this request can never succeed. */
export const DEAD_AT_ONCE: ReadonlySet<number> = new Set([400, 410, 413, 415, 422])
const LONGEST_WAIT_MS = 86_400_000
const SHORTEST_WAIT_MS = 1_000

export function http({ url, timeoutMs, secret }: HttpTarget): Handler {
  const { origin, pathname, search } = new URL(url)
  // Errors and logs have more readers than the config, and a query may contain a token.
  const at = `${origin}${pathname}`
  const query = search.slice(1)

  async function post(body: string, context: HandlerContext): Promise<Response> {
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      return await fetch(url, {
        method: 'POST',
        body,
        headers: headersFor(context, body, secret),
        // Do not follow redirects: the signature is meant for one address.
        redirect: 'manual',
        signal: AbortSignal.any([context.signal, deadline]),
      })
    } catch (error) {
      context.signal.throwIfAborted()
      if (deadline.aborted) throw new Error(`${at} did not respond within ${timeoutMs} ms`, { cause: error })
      throw new Error(`${at} cannot be reached`, { cause: error })
    }
  }

  return async (context) => {
    const response = await post(jsonOf(context.update), context)
    const text = await textOf(response, at)
    // The start of the response, for an error. The service may repeat the URL that it was called with.
    const quoted = (query === '' ? text : text.replaceAll(query, '…')).slice(0, 200)
    if (response.status === 429 || (response.status === 503 && response.headers.has('retry-after'))) {
      const waitMs = retryAfterMs(response.headers)
      if (waitMs !== null) throw new Snooze(waitMs, `${at} responded with ${response.status}`)
    }
    if (DEAD_AT_ONCE.has(response.status))
      throw new Dead(`${at} responded with ${response.status}: ${quoted}`)
    if (!response.ok) throw new Error(`${at} responded with ${response.status}: ${quoted}`)
    if (text.trim() === '') return
    const value = parsed(text)
    if (value === null) throw new Error(`${at} did not respond with a JSON object: ${quoted}`)
    answer(value, at, context)
  }
}

/**
 * Reads seconds or an HTTP date, which is compared with the server's own clock. Null for neither, and for a
 * time in the past.
 */
export function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  const theirNow = Date.parse(headers.get('date') ?? '')
  const waitMs = /^\d+(?:\.\d+)?$/.test(text)
    ? Number(text) * 1_000
    : Date.parse(/^[a-z]+,? /i.test(text) ? text : '') - (Number.isNaN(theirNow) ? Date.now() : theirNow)
  // A time in the past needs no wait: treat it as an ordinary error, which spends an attempt.
  return waitMs > 0 ? Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitMs)) : null
}

/**
 * `t=<seconds>,v1=<hex>`: an HMAC-SHA-256 of `<seconds>.<body>`. The time prevents replays of old requests.
 */
export function signature(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

function headersFor(
  { bot, key, attempt }: HandlerContext,
  body: string,
  secret: string | null,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-jobmill-bot': bot.slug,
    'x-jobmill-attempt': String(attempt),
    // The same for every attempt, so that the service can deduplicate.
    'idempotency-key': key.replaceAll(' ', ':'),
    ...(secret === null
      ? {}
      : { 'x-jobmill-signature': signature(secret, body, Math.floor(Date.now() / 1_000)) }),
  }
}

async function textOf(response: Response, at: string): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > MOST_BYTES) throw new Dead(`${at} responded with more than ${MOST_BYTES} bytes`)
  }
  return text
}

/** Accepts `{ text }` or `{ replies: [{ text } | { method, payload }] }`; an empty body means no reply. */
function answer(value: Record<string, unknown>, at: string, { reply, call }: HandlerContext): void {
  const { text: one, replies } = value
  if (typeof one === 'string') reply(one)
  if (!Array.isArray(replies)) return
  for (const item of replies as Record<string, unknown>[]) {
    if (typeof item?.['text'] === 'string') reply(item['text'])
    else if (typeof item?.['method'] === 'string')
      call(item['method'], (item['payload'] ?? {}) as Record<string, unknown>)
    else throw new Dead(`${at} responded with a reply that has neither text nor method`)
  }
}

/** Null if the text is not a JSON object. */
function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}
