/** The supported methods by lower-case name, because Telegram ignores case. */
import type { Bot } from './bot.ts'
import { getUpdates } from './get-updates.ts'
import { deleteMessage, sendMessage } from './messages.ts'
import type { Params } from './params.ts'
import type { TakePlace } from './send-limits.ts'
import type { ChatStanding } from './types.ts'
import { deleteWebhook, getWebhookInfo, setWebhook } from './webhook-methods.ts'
import type { WebhookParts } from './webhook.ts'

export interface MethodResult {
  readonly result: unknown
  readonly description?: string
}

export interface Standing {
  readonly state: ChatStanding
  readonly to?: number | undefined
}

export interface MethodParts {
  readonly clock: () => number
  readonly standing: (chatId: number) => Standing
  readonly takePlace: TakePlace
  readonly webhookParts: WebhookParts
  /** Fires when the caller disconnects. */
  readonly gone: AbortSignal
}

/** Throws a `Refusal` for errors. */
export type Method = (bot: Bot, params: Params, parts: MethodParts) => MethodResult | Promise<MethodResult>

const getMe: Method = ({ id, username }) => ({
  result: {
    id,
    is_bot: true,
    first_name: username,
    username,
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
  },
})

export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    getMe,
    sendMessage,
    deleteMessage,
    setWebhook,
    deleteWebhook,
    getWebhookInfo,
    getUpdates,
  }).map(([name, method]) => [name.toLowerCase(), method]),
)
