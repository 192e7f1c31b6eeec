/** What the gateway needs to know of an update. Everything else of it is carried and not looked into: Telegram adds fields whenever it likes. */

/** As Telegram sent it, unknown fields included. */
export type RawUpdate = Readonly<Record<string, unknown>> & { readonly update_id: number }

export interface UpdateFacts {
  readonly updateId: number
  readonly userId: number | null
  readonly userName: string | null
  readonly chatId: number | null
  /** Of a message with text or a caption; else empty. */
  readonly text: string
  readonly messageId: number | null
}

type Fields = Readonly<Record<string, unknown>>

/** An object with a whole number as its `update_id`; null for anything else. */
export function asUpdate(value: unknown): RawUpdate | null {
  if (!isFields(value) || !Number.isSafeInteger(value['update_id']) || (value['update_id'] as number) < 0)
    return null
  return value as RawUpdate
}

/** The part that tells what happened is the only object beside the id: a message, a pressed button, a new member. */
export function factsOf(update: RawUpdate): UpdateFacts {
  const event = Object.values(update).find(isFields) ?? {}
  // A pressed button carries the message that it is under.
  const message = isFields(event['message']) ? event['message'] : event
  const user = fields(event['from'] ?? event['user'])
  const chat = fields(message['chat'])
  return {
    updateId: update.update_id,
    userId: whole(user['id']),
    userName: text(user['username']) ?? text(user['first_name']),
    chatId: whole(chat['id']) ?? null,
    text: text(event['text']) ?? text(event['caption']) ?? '',
    messageId: whole(message['message_id']),
  }
}

/** What runs in order: a chat, or who wrote where there is no chat. */
export function orderKeyOf(botId: number, { chatId, userId }: UpdateFacts): string | null {
  const whose = chatId ?? userId
  return whose === null ? null : `${botId}:${whose}`
}

/** Two bots that had the same slug one after the other are told apart by their ids. */
export function updateKey(botId: number, updateId: number): string {
  return `telegram ${botId}:${updateId}`
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fields(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function whole(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
