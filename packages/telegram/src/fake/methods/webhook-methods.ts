/** Sets, removes and describes webhooks. */
import { type Bot, pendingOf, type WebhookSettings } from '../bot.ts'
import type { Method } from './method.ts'
import { isTrue, namesOf, numberOf, type Params, textOf } from './params.ts'
import { badRequest } from '../refusal.ts'
import { webhook } from '../webhook.ts'

const MOST_CONNECTIONS = 100
const USUAL_CONNECTIONS = 40
const LONGEST_SECRET = 256

export const setWebhook: Method = (bot, params, world) => {
  if (textOf(params, 'url') === '') return removeWebhook(bot, params)
  const settings = settingsOf(params)
  const wanted = namesOf(params, 'allowed_updates') ?? bot.wanted
  if (isTrue(params, 'drop_pending_updates')) bot.pending.clear()
  else if (JSON.stringify([bot.webhook?.settings, bot.wanted]) === JSON.stringify([settings, wanted])) {
    return { result: true, description: 'Webhook is already set' }
  }
  bot.wanted = wanted
  bot.webhook?.stop()
  bot.poll?.end('terminated by setWebhook request')
  bot.webhook = webhook(bot, settings, world)
  return { result: true, description: 'Webhook was set' }
}

export const deleteWebhook: Method = removeWebhook

export const getWebhookInfo: Method = (bot, _params, { clock }) => {
  const lastError = bot.webhook?.lastError() ?? null
  return {
    result: {
      url: bot.webhook?.settings.url ?? '',
      has_custom_certificate: false,
      pending_update_count: pendingOf(bot, clock()).length,
      ...(bot.webhook === undefined ? {} : { max_connections: bot.webhook.settings.maxConnections }),
      ...(lastError === null
        ? {}
        : { last_error_date: Math.floor(lastError.at / 1_000), last_error_message: lastError.message }),
      ...(bot.wanted.length === 0 ? {} : { allowed_updates: bot.wanted }),
    },
  }
}

function removeWebhook(bot: Bot, params: Params): { readonly result: true; readonly description: string } {
  if (isTrue(params, 'drop_pending_updates')) bot.pending.clear()
  const had = bot.webhook !== undefined
  bot.webhook?.stop()
  bot.webhook = undefined
  return { result: true, description: had ? 'Webhook was deleted' : 'Webhook is already deleted' }
}

/**
 * Accepts plain http, as a self-hosted Bot API server does. Refuses an invalid number of connections, which
 * Telegram would silently correct.
 */
function settingsOf(params: Params): WebhookSettings {
  const url = textOf(params, 'url')
  if (!URL.canParse(url)) throw badRequest('bad webhook: Invalid URL specified')
  if (!/^https?:/i.test(url)) throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
  const secret = textOf(params, 'secret_token')
  if (secret.length > LONGEST_SECRET) throw badRequest('secret token is too long')
  if (!/^[A-Za-z0-9_-]*$/.test(secret)) throw badRequest('secret token contains unallowed characters')
  const maxConnections = numberOf(params, 'max_connections', USUAL_CONNECTIONS)
  if (maxConnections < 1 || maxConnections > MOST_CONNECTIONS) {
    throw badRequest(`max_connections must be from 1 to ${MOST_CONNECTIONS}`)
  }
  return { url, secret, maxConnections }
}
