/**
 * The webhook endpoint: finds the bot, checks the secret, receives the update, and reports the outcome to
 * Telegram.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { byteBudget, jsonWeight, pace, type Share } from 'jobmill-server'
import type { Bot } from '../bots/bot.ts'
import { WEBHOOK_PATH } from '../bots/webhooks.ts'
import type { SourcesConfig } from '../config/config.ts'
import type { Inside } from '../inside.ts'
import { asUpdate, factsOf, keepText, type RawUpdate } from '../update/update.ts'
import type { Refusal } from '../work/metrics.ts'
import { MUST_RETRY, type Receive, type Received, recordResult } from './receive.ts'

/** Short, because a restarting database is back soon. */
const RETRY_SECONDS = 5
/** Per source address, with bursts of twice as many. */
const WRONG_PER_SECOND = 20
/**
 * For all bodies in progress, with 64 bytes for each value in them. Telegram sends at most 100 updates at
 * once, of a few kilobytes each.
 */
const BODIES_BYTES = 64 * 1_024 ** 2
/** For one body. A message with 100 entities and as many buttons has about 2,000. */
const BODY_VALUES = 20_000
/** The longest wait that Telegram respects. */
const LONGEST_SECONDS = 3_600

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly retryAfter?: number
}

export function webhook(inside: Inside, receive: Receive) {
  const { config, bots, metrics, fault, log, platform } = inside
  const { maxBodyBytes, sources } = config
  const wrongSecrets = pace({ perSecond: WRONG_PER_SECOND, now: () => platform.monotonic() })
  const isFromThere = sourceCheck(sources)
  const budget = byteBudget(BODIES_BYTES)

  function refuse(status: number, reason: Refusal, problem: string): Answer {
    metrics.refused(reason)
    return { status, body: { ok: false, problem } }
  }

  /** Never rate-limits the right secret: behind a proxy, Telegram and attackers may share an address. */
  function refuseSecret(request: IncomingMessage): Answer {
    const waitMs = wrongSecrets(sourceOf(request, sources?.header ?? null))
    if (waitMs === 0) return refuse(401, 'secret', 'missing or wrong secret')
    const answer = refuse(429, 'secret', 'too many wrong secrets from this address')
    return { ...answer, retryAfter: seconds(waitMs) }
  }

  const busy = (): Answer => ({
    ...refuse(503, 'busy', 'too many bodies in progress'),
    retryAfter: RETRY_SECONDS,
  })
  const tooLarge = (): Answer => refuse(413, 'size', `body too large (max ${maxBodyBytes} bytes)`)

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const slug = (request.url ?? '').slice(WEBHOOK_PATH.length).split('?')[0] ?? ''
    const bot = bots.find((one) => one.slug === slug)
    if (bot === undefined) return refuse(404, 'path', 'unknown bot')
    if (request.method !== 'POST') return refuse(405, 'path', 'method must be POST')
    if (!isFromThere(request)) return refuse(403, 'source', 'source address not allowed')
    const secret = request.headers['x-telegram-bot-api-secret-token']
    if (typeof secret !== 'string' || !isSecret(secret, bot.secrets)) return refuseSecret(request)
    const share = budget.open()
    try {
      return await answerBody(bot, request, share)
    } finally {
      share.release()
    }
  }

  async function answerBody(bot: Bot, request: IncomingMessage, share: Share): Promise<Answer> {
    const text = await textOf(request, share)
    if (typeof text !== 'string') return text
    const weight = jsonWeight(text, BODY_VALUES)
    if (weight === null)
      return refuse(413, 'size', `body has too many values (max ${BODY_VALUES} list items, keys and values)`)
    if (!share.take(weight)) return busy()
    const update = asUpdate(parsed(text))
    if (update === null) return refuse(400, 'json', 'body is not an update')
    keepText(update, text)
    return received(bot, update)
  }

  /** The body, or the answer that refuses it. Counts the bytes that arrive, whatever the header says. */
  async function textOf(request: IncomingMessage, share: Share): Promise<string | Answer> {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > maxBodyBytes) return tooLarge()
    if (!share.take(declared)) return busy()
    const chunks: Buffer[] = []
    let bytes = 0
    // An early return must not close the connection, which still has to carry the response.
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > maxBodyBytes) return tooLarge()
        if (declared === 0 && !share.take(chunk.length)) return busy()
        chunks.push(chunk)
      }
    } catch {
      // The client disconnected or was too slow. That is not an error of this process, so it is not logged.
      return refuse(400, 'aborted', 'body is incomplete')
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  async function received(bot: Bot, update: RawUpdate): Promise<Answer> {
    const { chatId } = factsOf(update)
    await fault('webhook.received', chatId)
    const receiving = inTime(receive(bot, update))
    const { result, retryAfterMs = RETRY_SECONDS * 1_000 } = await recordResult(
      inside,
      bot,
      update,
      receiving,
    )
    await fault('webhook.stored', chatId)
    if (!MUST_RETRY.includes(result)) return { status: 200, body: { ok: true, result } }
    return { status: 503, body: { ok: false, result }, retryAfter: seconds(retryAfterMs) }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const { status, body, retryAfter } = await answerTo(request).catch((error: unknown): Answer => {
      log('error', 'webhook request failed', { error: String(error) })
      return { status: 503, body: { ok: false }, retryAfter: RETRY_SECONDS }
    })
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    // Node would parse unread bytes as the next request.
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

/**
 * Checks the webhook secret, or the previous one during a rotation. Constant time for any input: it compares
 * hashes, which have equal length, and checks every secret.
 */
function isSecret(given: string, secrets: readonly string[]): boolean {
  const hash = hashOf(given)
  return secrets.map((secret) => timingSafeEqual(hash, hashOf(secret))).includes(true)
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function sourceCheck(sources: SourcesConfig | null): (request: IncomingMessage) => boolean {
  if (sources === null) return () => true
  const allowed = new BlockList()
  for (const { address, prefix, family } of sources.networks) allowed.addSubnet(address, prefix, family)
  return (request) => {
    const source = sourceOf(request, sources.header)
    const version = isIP(source)
    return version !== 0 && allowed.check(source, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Empty if unknown. Takes the last of several addresses, because clients can forge the earlier ones. */
function sourceOf({ headers, socket }: IncomingMessage, header: string | null): string {
  const said = header === null ? socket.remoteAddress : headers[header]
  const last = (Array.isArray(said) ? said.at(-1) : said)?.split(',').at(-1)?.trim() ?? ''
  // Normalize an IPv4 address from a dual-stack socket.
  return last.replace(/^::ffff:(?=\d+\.)/i, '')
}
