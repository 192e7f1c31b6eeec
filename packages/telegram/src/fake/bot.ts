/** What the fake knows of a bot: its chats, and the updates that nobody has taken yet. */
import type { Webhook } from './webhook.ts'
import type { Chat } from './chat.ts'
import type { NewBot } from './types.ts'

/** How long Telegram keeps an update. */
const LIFE_MS = 24 * 3_600_000
const FIRST_UPDATE_ID = 700_000_001
/** What a bot gets only when it asks for it by name. */
const ONLY_BY_NAME = ['chat_member', 'message_reaction', 'message_reaction_count']

export interface Update {
  readonly id: number
  readonly chatId: number
  readonly value: Readonly<Record<string, unknown>>
  readonly expiresAt: number
}

export interface Bot {
  readonly token: string
  readonly id: number
  readonly username: string
  readonly chats: Map<number, Chat>
  /** By id, in the order in which they were made. */
  readonly pending: Map<number, Update>
  /** Also those that were taken. */
  readonly made: Map<number, Update>
  nextUpdateId: number
  /** Empty for the usual ones. */
  wanted: readonly string[]
  webhook: Webhook | undefined
  /** Whoever waits in getUpdates. */
  poll: Poll | undefined
}

interface Poll {
  readonly look: () => void
  readonly end: (why: string) => void
}

export function newBot({ token, username, updateIdFrom = FIRST_UPDATE_ID }: NewBot): Bot {
  const id = Number(/^(\d+):./.exec(token)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(id)) {
    throw new TypeError('token is not the token of a bot. Give a number, a colon and anything, as in 123:abc')
  }
  return {
    token,
    id,
    username,
    chats: new Map(),
    pending: new Map(),
    made: new Map(),
    nextUpdateId: updateIdFrom,
    wanted: [],
    webhook: undefined,
    poll: undefined,
  }
}

/** An update that the bot does not want takes its id and goes nowhere. */
export function makeUpdate(bot: Bot, chatId: number, fields: Update['value'], now: number): Update {
  const id = bot.nextUpdateId++
  // No type of any client knows the last one: what comes next year must not break anybody.
  const value = { update_id: id, ...fields, field_of_tomorrow: { is_unknown: true } }
  const update = { id, chatId, value, expiresAt: now + LIFE_MS }
  bot.made.set(id, update)
  const types = Object.keys(fields)
  const isWanted =
    bot.wanted.length === 0
      ? !types.some((type) => ONLY_BY_NAME.includes(type))
      : types.some((type) => bot.wanted.includes(type))
  if (isWanted) {
    bot.pending.set(id, update)
    bot.webhook?.add(update)
    bot.poll?.look()
  }
  return update
}

/** Those that are not too old, by id. */
export function pendingOf(bot: Bot, now: number): readonly Update[] {
  for (const { id, expiresAt } of bot.pending.values()) if (expiresAt <= now) bot.pending.delete(id)
  return [...bot.pending.values()].toSorted((a, b) => a.id - b.id)
}
