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
  /** Somebody said something, and may be answered: nobody who joined or pinned, no bot, and no post that a channel forwarded by itself. */
  readonly isTalk: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** An object with a whole number as its `update_id`; null for anything else. */
export function asUpdate(value: unknown): RawUpdate | null {
  if (!isFields(value) || !Number.isSafeInteger(value['update_id']) || (value['update_id'] as number) < 0)
    return null
  return value as RawUpdate
}

/** What people write or press, by the names that Telegram gives it. */
const TALK = ['message', 'edited_message', 'callback_query']

/** The part that tells what happened: what people say where there is some, or else the first object beside the id. */
export function factsOf(update: RawUpdate): UpdateFacts {
  const said = TALK.map((name) => update[name]).find(isFields)
  const event = said ?? Object.values(update).find(isFields) ?? {}
  // A pressed button carries the message that it is under.
  const message = isFields(event['message']) ? event['message'] : event
  const from = fields(event['from'] ?? event['user'])
  // Anonymous admins and channels all share an account of Telegram's own: that is nobody. Of a pressed button the message tells who wrote that, not who pressed.
  const user = from['is_bot'] === true || isFields(event['sender_chat']) ? {} : from
  const chat = fields(message['chat'])
  return {
    updateId: update.update_id,
    userId: whole(user['id']),
    userName: text(user['username']) ?? text(user['first_name']),
    chatId: whole(chat['id']) ?? null,
    text: text(event['text']) ?? text(event['caption']) ?? '',
    messageId: whole(message['message_id']),
    isTalk: said !== undefined && isTalk(said, said === update['callback_query']),
  }
}

/** What a person says something with. All else in a message was written by Telegram: somebody came, something was pinned. */
const CONTENT =
  'text caption animation audio checklist contact dice document game location paid_media photo poll sticker story venue video video_note voice'.split(
    ' ',
  )

/** Anonymous admins are a bot to Telegram, and talk all the same. */
function isTalk(event: Fields, isButton: boolean): boolean {
  if (isButton) return true
  if (event['is_automatic_forward'] === true) return false
  if (fields(event['from'])['is_bot'] === true && !isFields(event['sender_chat'])) return false
  return CONTENT.some((name) => event[name] !== undefined)
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
