/** One chat with one bot: its transcript, and the methods with which a test writes in it. */
import { type Bot, type Chat, makeUpdate, type Update } from './bot.ts'
import type { World } from './methods/method.ts'
import type { ChatOptions, FakeChat, FakeUser, Said, SaysOptions, TranscriptEntry } from './types.ts'

const PATIENCE_MS = 10_000

export function newChat(bot: Bot, options: Omit<ChatOptions, 'bot'>, { changes, clock }: World): Chat {
  const { id, type = 'private' } = options
  const { user = { id: type === 'private' ? id : 1_000_001, first_name: 'Ada' } } = options
  const entries: TranscriptEntry[] = []
  const shown = type === 'private' ? { ...namesIn(user), id, type } : { id, type, title: `Chat ${id}` }

  function write(by: TranscriptEntry['by'], text: string): number {
    const messageId = entries.length + 1
    entries.push({ by, messageId, text, at: clock(), deleted: false })
    return messageId
  }

  function remove(messageId: number): boolean {
    const entry = entries[messageId - 1]
    if (entry === undefined || entry.deleted) return false
    entries[messageId - 1] = { ...entry, deleted: true }
    return true
  }

  /** Returns the id of the update. */
  function gives(fields: Update['value']): number {
    const update = makeUpdate(bot, id, fields, clock())
    changes.notify()
    return update.id
  }

  function says(text: string, { from = user, message = {}, updateId }: SaysOptions = {}): Said {
    if (updateId !== undefined) bot.nextUpdateId = updateId
    const messageId = write('user', text)
    const fields = {
      message_id: messageId,
      from: { is_bot: false, language_code: 'en', ...from, mood_of_tomorrow: 'unknown' },
      chat: shown,
      date: Math.floor(clock() / 1_000),
      text,
      ...commandIn(text),
      weather_of_tomorrow: [{ is_unknown: true }],
      ...message,
    }
    return { messageId, updateId: gives({ message: fields }) }
  }

  const face: FakeChat = {
    id,
    says,
    gives,
    transcript: () => [...entries],
    until: async (holds, timeoutMs = PATIENCE_MS) => {
      await changes.until(
        () => holds(entries),
        timeoutMs,
        () => entries,
      )
      return [...entries]
    },
  }
  return { type, shown, entries, write, remove, face }
}

function namesIn({ first_name, last_name, username }: FakeUser): Record<string, unknown> {
  return { first_name, last_name, username }
}

/** Telegram marks commands with an entity, which clients rely on. */
function commandIn(text: string): Record<string, unknown> {
  const command = /^\/[A-Za-z0-9_]{1,32}(?:@\w+)?/.exec(text)?.[0]
  return command === undefined
    ? {}
    : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }
}
