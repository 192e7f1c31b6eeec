/** The supported methods by lower-case name, because Telegram ignores case. */
import { getUpdates } from './get-updates.ts'
import type { Method } from './method.ts'
import { deleteMessage, sendMessage } from './messages.ts'
import { deleteWebhook, getWebhookInfo, setWebhook } from './webhook-methods.ts'

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
