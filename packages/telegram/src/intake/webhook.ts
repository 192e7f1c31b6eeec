/**
 * The webhook endpoint: finds the bot, checks the secret, receives the update, and reports the outcome to
 * Telegram.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Platform } from 'jobmill'
import { byteBudget, pace, type Share } from 'jobmill-server'
import type { Bot } from '../bots/bot.ts'
import type { SourcesConfig } from '../config/config.ts'
import { WEBHOOK_PATH } from '../bots/webhooks.ts'
import type { Log } from '../log.ts'
import { keepText } from '../update/exact-text.ts'
import { asUpdate, factsOf, type RawUpdate } from '../update/update.ts'
import type { Fault } from '../work/fault.ts'
import type { Metrics, Refusal, Result } from '../work/metrics.ts'
import { notReceived, type Receive, type Received } from './receive.ts'
import { isSecret } from './secret.ts'
import { sourceCheck, sourceOf } from './source.ts'

export interface WebhookTools {
  readonly botOf: (slug: string) => Bot | undefined
  readonly receive: Receive
  readonly maxBodyBytes: number
  readonly sources: SourcesConfig | null
  readonly metrics: Metrics
  readonly platform: Platform
  readonly fault: Fault
  readonly log: Log
}

/** Short, because a restarting database is back soon. */
const RETRY_SECONDS = 5
/** Per source address, with bursts of twice as many. */
const WRONG_PER_SECOND = 20
/** Of all bodies in progress. Telegram sends at most 100 updates at once, of a few kilobytes each. */
const BODIES_BYTES = 64 * 1_024 ** 2
/** The longest wait that Telegram respects. */
const LONGEST_SECONDS = 3_600

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly retryAfter?: number
}

const STATUS: Record<Result, number> = {
  queued: 200,
  handled: 200,
  duplicate: 200,
  dropped: 200,
  prompted: 200,
  dead: 200,
  busy: 503,
  unstored: 503,
}

export function webhook(tools: WebhookTools) {
  const { botOf, receive, maxBodyBytes, metrics, fault, log, platform } = tools
  const wrongSecrets = pace({ perSecond: WRONG_PER_SECOND, now: () => platform.monotonic() })
  const isFromThere = sourceCheck(tools.sources)
  const budget = byteBudget(BODIES_BYTES)

  function refuse(status: number, reason: Refusal, problem: string): Answer {
    metrics.refused(reason)
    return { status, body: { ok: false, problem } }
  }

  /** Never rate-limits the right secret: behind a proxy, Telegram and attackers may share an address. */
  function refuseSecret(request: IncomingMessage): Answer {
    const waitMs = wrongSecrets(sourceOf(request, tools.sources?.header ?? null))
    if (waitMs === 0) return refuse(401, 'secret', 'missing or wrong secret')
    const answer = refuse(429, 'secret', 'too many wrong secrets from this address')
    return { ...answer, retryAfter: seconds(waitMs) }
  }

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const slug = (request.url ?? '').slice(WEBHOOK_PATH.length).split('?')[0] ?? ''
    const bot = botOf(slug)
    if (bot === undefined) return refuse(404, 'path', 'unknown bot')
    if (request.method !== 'POST') return refuse(405, 'path', 'method must be POST')
    if (!isFromThere(request)) return refuse(403, 'source', 'source address not allowed')
    const secret = request.headers['x-telegram-bot-api-secret-token']
    if (!isSecret(typeof secret === 'string' ? secret : undefined, bot.secrets)) return refuseSecret(request)
    const share = budget.open()
    try {
      return await answerBody(bot, request, share)
    } finally {
      share.release()
    }
  }

  async function answerBody(bot: Bot, request: IncomingMessage, share: Share): Promise<Answer> {
    const body = await bodyOf(request, maxBodyBytes, share)
    if (body === 'too large') return refuse(413, 'size', `body too large (max ${maxBodyBytes} bytes)`)
    if (body === 'busy')
      return { ...refuse(503, 'busy', 'too many bodies in progress'), retryAfter: RETRY_SECONDS }
    const update = asUpdate(parsed(body.text))
    if (update === null) return refuse(400, 'json', 'body is not an update')
    keepText(update, body.text)
    return received(bot, update)
  }

  async function received(bot: Bot, update: RawUpdate): Promise<Answer> {
    const { chatId } = factsOf(update)
    await fault('webhook.received', chatId)
    const { result, retryAfterMs = RETRY_SECONDS * 1_000 } = await inTime(receive(bot, update)).catch(
      (error: unknown): Received => {
        log('error', 'update could not be stored', {
          bot: bot.slug,
          update: update.update_id,
          error: String(error),
        })
        return notReceived(error)
      },
    )
    await fault('webhook.stored', chatId)
    metrics.received({ bot: bot.slug, result })
    if (result === 'duplicate')
      log('info', 'duplicate update ignored', { bot: bot.slug, update: update.update_id })
    const status = STATUS[result]
    return {
      status,
      body: { ok: status === 200, result },
      ...(status === 200 ? {} : { retryAfter: seconds(retryAfterMs) }),
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const { status, body, retryAfter } = await answerTo(request).catch((error: unknown): Answer => {
      log('error', 'webhook request failed', { error: String(error) })
      return { status: 503, body: { ok: false }, retryAfter: RETRY_SECONDS }
    })
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    // Unread bytes would be parsed as the next request.
    if (!request.complete) response.setHeader('connection', 'close')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    metrics.answered((performance.now() - startedAt) / 1_000)
  }
}

/**
 * Longer than the default `handlerMs`, and shorter than Telegram waits, so that Telegram always gets a
 * response.
 */
const ANSWER_MS = 45_000

/** An update that finishes late is recognized as a duplicate when it is redelivered. */
async function inTime(received: Promise<Received>): Promise<Received> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`the update took longer than ${ANSWER_MS} ms`)),
    ANSWER_MS,
  )
  try {
    return await Promise.race([received, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function seconds(ms: number): number {
  return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(ms / 1_000)))
}

/** Counts the bytes that arrive, whatever the header says. */
async function bodyOf(
  request: IncomingMessage,
  most: number,
  share: Share,
): Promise<{ readonly text: string } | 'too large' | 'busy'> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > most) return 'too large'
  if (!share.take(declared)) return 'busy'
  const chunks: Buffer[] = []
  let bytes = 0
  // An early return must not close the connection, which still has to carry the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > most) return 'too large'
    if (declared === 0 && !share.take(chunk.length)) return 'busy'
    chunks.push(chunk)
  }
  return { text: Buffer.concat(chunks).toString('utf8') }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
