/** The state of a bot in the fake: its chats and its pending updates. */
import type { ChatOptions, Delivery, FakeChat, NewBot, TranscriptEntry } from './types.ts'

/** How long Telegram keeps an update. */
const LIFE_MS = 24 * 3_600_000
const FIRST_UPDATE_ID = 700_000_001
/** Update types that a bot gets only if it requests them by name. */
const ONLY_BY_NAME = ['chat_member', 'message_reaction', 'message_reaction_count']

export interface Update {
  readonly id: number
  readonly chatId: number
  readonly value: Readonly<Record<string, unknown>>
  readonly expiresAt: number
}

export type Bot = ReturnType<typeof newBot>

/** The part of a chat that Bot API methods use. */
export interface Chat {
  readonly type: NonNullable<ChatOptions['type']>
  /** The `chat` object of messages. */
  readonly shown: Readonly<Record<string, unknown>>
  readonly entries: TranscriptEntry[]
  /** Returns the message id. */
  readonly write: (by: TranscriptEntry['by'], text: string) => number
  /** Returns whether the message existed. */
  readonly remove: (messageId: number) => boolean
  readonly face: FakeChat
}

export interface WebhookSettings {
  readonly url: string
  readonly secret: string
  readonly maxConnections: number
}

export interface Webhook {
  readonly settings: WebhookSettings
  readonly add: (update: Update) => void
  /** Posts an update once, whatever its state. */
  readonly again: (update: Update) => Promise<Delivery>
  readonly lastError: () => { readonly at: number; readonly message: string } | null
  readonly stop: () => void
}

interface Poll {
  readonly look: () => void
  readonly end: (why: string) => void
}

export function newBot({ token, username }: NewBot, nextUpdateId = FIRST_UPDATE_ID) {
  const id = Number(/^(\d+):./.exec(token)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(id)) {
    throw new TypeError('token: must be a bot token. Pass a number, a colon and any text, as in 123:abc')
  }
  return {
    token,
    id,
    username,
    chats: new Map<number, Chat>(),
    /** Pending updates by id, in the order of creation. */
    pending: new Map<number, Update>(),
    /** All updates, delivered ones included. */
    made: new Map<number, Update>(),
    nextUpdateId,
    /** The requested update types; empty for the default set. */
    wanted: [] as readonly string[],
    webhook: undefined as Webhook | undefined,
    /** The open getUpdates call. */
    poll: undefined as Poll | undefined,
  }
}

/** An update of a type that the bot did not request still uses up an id. */
export function makeUpdate(bot: Bot, chatId: number, fields: Update['value'], now: number): Update {
  const id = bot.nextUpdateId++
  // An unknown field, because clients must tolerate the fields that Telegram adds.
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

/** Pending updates that have not expired, by id. */
export function pendingOf(bot: Bot, now: number): readonly Update[] {
  for (const { id, expiresAt } of bot.pending.values()) if (expiresAt <= now) bot.pending.delete(id)
  return [...bot.pending.values()].toSorted((a, b) => a.id - b.id)
}
