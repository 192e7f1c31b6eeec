/** Sets the webhooks at Telegram when their settings have changed, and reads their state. */
import { createHash } from 'node:crypto'
import { cache, systemPlatform } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import type { Schema } from '../sessions/steps.ts'
import { retryAfterMs } from '../work/call.ts'
import type { Bot } from './bot.ts'

export type WebhookState = Awaited<ReturnType<typeof webhookState>>

/** The path prefix of webhooks; the slug of the bot follows. */
export const WEBHOOK_PATH = '/telegram/'

/** The number of parallel deliveries, so that one slow chat does not block others. */
const MAX_CONNECTIONS = 40

/**
 * Sets the webhook only if its URL or secret changed. Telegram reports the URL; a stored hash covers both.
 */
export async function pointWebhook(bot: Bot, url: string, tables: Tables<Schema>): Promise<'set' | 'same'> {
  const fingerprint = createHash('sha256')
    .update(`${url} ${bot.secrets[0] ?? ''}`)
    .digest('hex')
  const [info, known] = await Promise.all([
    bot.api.getWebhookInfo(),
    tables.db
      .selectFrom('telegram_webhook')
      .select('fingerprint')
      .where('bot_id', '=', bot.id)
      .executeTakeFirst(),
  ])
  if (info.url === url && known?.fingerprint === fingerprint) return 'same'
  await bot.api.setWebhook(url, { secret_token: bot.secrets[0] ?? '', max_connections: MAX_CONNECTIONS })
  await tables.db
    .insertInto('telegram_webhook')
    .values({ bot_id: bot.id, fingerprint, set_at: tables.now })
    .onConflict((held) => held.column('bot_id').doUpdateSet({ fingerprint, set_at: tables.now }))
    .execute()
  return 'set'
}

/** The minimum time between two state queries to Telegram, however often the state is read. */
const ASKED_EVERY_MS = 60_000

/** The state of all bots, at most a minute old. Bots without an answer from Telegram are left out. */
export function webhookStates(bots: readonly Bot[]): () => Promise<WebhookState[]> {
  /** The end of a 429 wait, by bot id. */
  const quiet = new Map<number, number>()

  async function ask(bot: Bot): Promise<WebhookState[]> {
    if (performance.now() < (quiet.get(bot.id) ?? 0)) return []
    try {
      return [await webhookState(bot)]
    } catch (error) {
      quiet.set(bot.id, performance.now() + (retryAfterMs(error) ?? 0))
      return []
    }
  }

  return cache(systemPlatform, ASKED_EVERY_MS, async () => (await Promise.all(bots.map(ask))).flat())
}

/** Older errors say nothing about the current backlog. */
const RECENT_MS = 10 * 60_000

/** Bots with recent delivery failures, from the last known state. Refreshes that state in the background. */
export function deliveryFailures(ask: () => Promise<readonly WebhookState[]>) {
  let known: readonly WebhookState[] = []
  return () => {
    ask().then(
      (states) => void (known = states),
      () => {},
    )
    return known
      .filter(({ pending, lastErrorAt }) => pending > 0 && Date.now() - (lastErrorAt ?? 0) < RECENT_MS)
      .map(({ slug, pending }) => ({ bot: slug, pending }))
  }
}

/** `lastError` and `lastErrorAt` are null if no delivery failed. */
export async function webhookState({ slug, api }: Bot) {
  const info = await api.getWebhookInfo()
  return {
    slug,
    url: info.url ?? '',
    pending: info.pending_update_count,
    lastError: info.last_error_message ?? null,
    lastErrorAt: info.last_error_date === undefined ? null : info.last_error_date * 1_000,
  }
}
