/**
 * A local Telegram for development and tests: an HTTP server that takes Bot API calls, delivers updates to
 * webhooks, and injects faults on request. It follows the Bot API documentation and the source of the Bot API
 * server. types.ts holds the interface for tests.
 */
import { checkObjectKeys } from 'jobmill/internal'
import { type Bot, newBot } from './bot.ts'
import { newCalls, faults as newFaults } from './calls.ts'
import { changes as newChanges } from './changes.ts'
import { newChat } from './chat.ts'
import type { Standing, World } from './methods/method.ts'
import { methods } from './methods/methods.ts'
import { sendLimits } from './send-limits.ts'
import { listen } from './server.ts'
import type { ChatOptions, Delivery, FakeChat, FakeTelegram, FakeTelegramOptions, NewBot } from './types.ts'

const KEYS = {
  port: true,
  updateIdFrom: true,
  webhookTimeoutMs: true,
  retryScale: true,
  limits: true,
  clock: true,
} as const satisfies Record<keyof FakeTelegramOptions, true>
const PATIENCE_MS = 10_000

export async function fakeTelegram(options: FakeTelegramOptions = {}): Promise<FakeTelegram> {
  checkObjectKeys(options, 'options', Object.keys(KEYS))
  const { port = 0, webhookTimeoutMs = 60_000, retryScale = 1, limits = {}, clock = Date.now } = options
  const bots = new Map<string, Bot>()
  const standings = new Map<number, Standing>()
  const deliveries: Delivery[] = []
  const changes = newChanges()
  const faults = newFaults()
  const closing = new AbortController()
  const world: World = {
    clock,
    changes,
    standing: (id) => standings.get(id) ?? { state: 'open' },
    takePlace: sendLimits(limits, clock),
    retryScale,
    webhookTimeoutMs,
    record(delivery) {
      deliveries.push(delivery)
      changes.notify()
    },
    closing: closing.signal,
  }
  const calls = newCalls(bots, faults, world)

  function addBot(bot: NewBot): void {
    if (bots.has(bot.token))
      throw new TypeError('token: is already used by another bot. Use one token per bot')
    bots.set(bot.token, newBot(bot, bot.updateIdFrom ?? options.updateIdFrom))
  }

  function chat({ bot: token, ...chatOptions }: ChatOptions): FakeChat {
    const bot = bots.get(token)
    if (bot === undefined) throw new TypeError('bot: unknown token. Call addBot first')
    const known = bot.chats.get(chatOptions.id) ?? newChat(bot, chatOptions, world)
    bot.chats.set(chatOptions.id, known)
    return known.face
  }

  function chatIs(...[id, state, { to } = {}]: Parameters<FakeTelegram['chatIs']>): void {
    if (state === 'migrated' && to === undefined) {
      throw new TypeError('to: is missing. Pass the id of the new chat')
    }
    standings.set(id, { state, to })
    for (const { token, chats } of bots.values()) {
      if (to !== undefined && chats.has(id)) chat({ bot: token, id: to, type: 'supergroup' })
    }
  }

  async function redeliver(
    ...[updateId, { bot } = {}]: Parameters<FakeTelegram['redeliver']>
  ): Promise<Delivery> {
    const having = [...bots.values()].filter(
      ({ token, made }) => made.has(updateId) && (bot === undefined || bot === token),
    )
    const [only] = having
    const update = only?.made.get(updateId)
    if (only === undefined || update === undefined)
      throw new TypeError(
        `updateId: is unknown (got ${updateId}). Pass an id that says() or gives() returned`,
      )
    if (having.length > 1)
      throw new TypeError(`updateId: belongs to several bots (got ${updateId}). Pass the token of one as bot`)
    if (only.webhook === undefined) throw new TypeError('bot: has no webhook. Call setWebhook first')
    return only.webhook.again(update)
  }

  const served = await listen(port, calls.answer)
  async function close(): Promise<void> {
    closing.abort()
    for (const { webhook, poll } of bots.values()) {
      webhook?.stop()
      poll?.end('the fake Telegram was closed')
    }
    await served.close()
    changes.close()
  }
  let closed: Promise<void> | null = null
  return {
    url: served.url,
    calls: calls.all,
    deliveries,
    addBot,
    chat,
    next: (method, ...more) => {
      if (method !== '*' && !methods.has(method.toLowerCase())) {
        throw new TypeError(
          `method: ${method} is not supported. Use one of ${[...methods.keys()].join(', ')}`,
        )
      }
      faults.add(method, more)
    },
    chatIs,
    redeliver,
    until: (holds, timeoutMs = PATIENCE_MS) =>
      changes.until(holds, timeoutMs, () => ({
        calls: calls.all.slice(-10),
        deliveries: deliveries.slice(-10),
      })),
    close: () => (closed ??= close()),
  }
}
