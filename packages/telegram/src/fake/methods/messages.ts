/** Sends and deletes messages. */
import type { Bot, Chat } from '../bot.ts'
import type { Method } from './method.ts'
import { jsonIn, numberOf, type Params, textOf } from './params.ts'
import { badRequest, Refusal } from '../refusal.ts'

const MAX_TEXT = 4_096

export const sendMessage: Method = (bot, params, { clock, standing, takePlace }) => {
  const text = textOf(params, 'text')
  const { id, chat } = chatOf(bot, params)
  if (text.trim() === '') throw badRequest('message text is empty')
  if (text.length > MAX_TEXT) throw badRequest('message is too long')
  const { state, to } = standing(id)
  if (state === 'blocked') throw new Refusal(403, 'Forbidden: bot was blocked by the user')
  if (state === 'migrated') throw migrated(to)
  const replyTo = repliedTo(params)
  if (replyTo !== null && chat.entries[replyTo - 1]?.deleted !== false) {
    throw badRequest('message to be replied not found')
  }
  takePlace(bot.id, { id, isGroup: chat.type !== 'private' })
  const message_id = chat.write('bot', text)
  const from = { id: bot.id, is_bot: true, first_name: bot.username, username: bot.username }
  return { result: { message_id, from, chat: chat.shown, date: Math.floor(clock() / 1_000), text } }
}

export const deleteMessage: Method = (bot, params, { standing }) => {
  const { id, chat } = chatOf(bot, params)
  const { state, to } = standing(id)
  if (state === 'migrated') throw migrated(to)
  const messageId = numberOf(params, 'message_id', 0)
  if (messageId < 1) throw badRequest('message identifier is not specified')
  if (!chat.remove(messageId)) throw badRequest('message to delete not found')
  return { result: true }
}

function chatOf(bot: Bot, params: Params): { readonly id: number; readonly chat: Chat } {
  const text = textOf(params, 'chat_id')
  if (text === '') throw badRequest('chat_id is empty')
  const id = Number(text)
  const chat = bot.chats.get(id)
  if (chat === undefined) throw badRequest('chat not found')
  return { id, chat }
}

/** Null if the message is not a reply, or may be sent although the message that it answers is gone. */
function repliedTo(params: Params): number | null {
  const given = params['reply_parameters']
  if (given === undefined || given === null) return null
  const reply = jsonIn(given)
  if (typeof reply !== 'object' || reply === null)
    throw badRequest("can't parse reply parameters JSON object")
  const { message_id, allow_sending_without_reply } = reply as Record<string, unknown>
  return allow_sending_without_reply === true ? null : Number(message_id)
}

const migrated = (to: number | undefined): Refusal =>
  new Refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: to })
