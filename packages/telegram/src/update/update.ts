/**
 * Extracts the facts that the gateway needs from an update. All other fields pass through untouched, because
 * Telegram adds new ones.
 */

/** The update as Telegram sent it, unknown fields included. */
export type RawUpdate = Readonly<Record<string, unknown>> & { readonly update_id: number }

export interface UpdateFacts {
  readonly updateId: number
  readonly userId: number | null
  readonly userName: string | null
  readonly chatId: number | null
  /** The text or caption of a message; otherwise empty. */
  readonly text: string
  readonly messageId: number | null
  /**
   * A person wrote something or pressed a button, and can be answered. False for service messages, bots, and
   * automatic forwards from a channel.
   */
  readonly isTalk: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Accepts an object with an integer `update_id`; null for anything else. */
export function asUpdate(value: unknown): RawUpdate | null {
  if (!isFields(value) || !Number.isSafeInteger(value['update_id']) || (value['update_id'] as number) < 0)
    return null
  return value as RawUpdate
}

/** Update types that come from people who write or press a button. */
const TALK = ['message', 'edited_message', 'callback_query']

/** The event of the update: a message or button press if present, otherwise the first object. */
export function factsOf(update: RawUpdate): UpdateFacts {
  const said = TALK.map((name) => update[name]).find(isFields)
  const event = said ?? Object.values(update).find(isFields) ?? {}
  // A button press contains the message that the button belongs to.
  const message = isFields(event['message']) ? event['message'] : event
  const from = fields(event['from'] ?? event['user'])
  // Anonymous admins and channels share an account of Telegram, so they have no user. For a button press, the
  // message names its author, not the user who pressed.
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

/**
 * Fields that a person fills in. Messages without any of them are service messages, such as a join or a pin.
 */
const CONTENT =
  'text caption animation audio checklist contact dice document game location paid_media photo poll sticker story venue video video_note voice'.split(
    ' ',
  )

/** Telegram reports anonymous admins as a bot, but they are people. */
function isTalk(event: Fields, isButton: boolean): boolean {
  if (isButton) return true
  if (event['is_automatic_forward'] === true) return false
  if (fields(event['from'])['is_bot'] === true && !isFields(event['sender_chat'])) return false
  return CONTENT.some((name) => event[name] !== undefined)
}

/** The order key: the chat, or the user if there is no chat. */
export function orderKeyOf(botId: number, { chatId, userId }: UpdateFacts): string | null {
  const whose = chatId ?? userId
  return whose === null ? null : `${botId}:${whose}`
}

/** The bot id keeps two bots apart that had the same slug one after the other. */
export function updateKey(botId: number, updateId: number): string {
  return `telegram ${botId}:${updateId}`
}

/** Finds numbers that may lose precision. A false match inside a string only stores the update twice. */
const LONG_NUMBER = /[:,[]\s*-?(?:[\d.]{16,}|[\d.]+e)/i

/**
 * The original text of updates with numbers that JavaScript cannot represent exactly. Other updates are
 * serialized from the parsed value, so that nothing is stored twice.
 */
const texts = new WeakMap<RawUpdate, string>()

/** `text` is the JSON of the update. */
export function keepText(update: RawUpdate, text: string): void {
  if (LONG_NUMBER.test(text)) texts.set(update, text)
}

/** Undefined if the update can be serialized without loss. */
export function keptText(update: RawUpdate): string | undefined {
  return texts.get(update)
}

export function jsonOf(update: RawUpdate): string {
  return keptText(update) ?? JSON.stringify(update)
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
