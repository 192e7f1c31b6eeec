/** The handler of updates. */
import { Dead, type EnqueueOptions } from 'jobmill'
import type { RawUpdate, UpdateFacts } from '../update/update.ts'

/** A Bot API call that is made only after the update is handled. */
export interface Reply {
  readonly method: string
  readonly payload: Readonly<Record<string, unknown>>
  /** If true, a refusal by Telegram is not an error. */
  readonly bestEffort: boolean
}

/** A job of your own that the handler enqueues. It is written together with the replies. */
export interface FollowUp {
  readonly kind: string
  readonly payload: unknown
  readonly options: EnqueueOptions
}

export interface HandlerContext extends UpdateFacts {
  /** `username` is null until Telegram has reported it. */
  readonly bot: { readonly slug: string; readonly id: number; readonly username: string | null }
  /** The update as Telegram sent it. */
  readonly update: RawUpdate
  /** The same for every delivery and every attempt of this update. */
  readonly key: string
  /** Starts at 1. */
  readonly attempt: number
  readonly signal: AbortSignal
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /**
   * Sends a text to the chat of the update. Splits a long text into several messages; ignores an empty one.
   */
  readonly reply: (text: string) => void
  /** Calls any method of the Bot API. */
  readonly call: (
    method: string,
    payload: Readonly<Record<string, unknown>>,
    options?: { readonly bestEffort?: boolean },
  ) => void
  /** Needs a database. */
  readonly enqueue: (kind: string, payload: unknown, options?: EnqueueOptions) => void
}

export type Handler = (context: HandlerContext) => Promise<void> | void

type HandlerInput = Omit<HandlerContext, 'reply' | 'call' | 'enqueue'>

/** Runs a handler and collects its replies and follow-ups. */
export async function handle(handler: Handler, given: HandlerInput, hasDatabase: boolean) {
  const replies: Reply[] = []
  const followUps: FollowUp[] = []
  await handler({
    ...given,
    reply(text) {
      if (given.chatId !== null) replies.push(...messages(given.chatId, text))
    },
    call: (method, payload, { bestEffort = false } = {}) =>
      void replies.push({ method, payload, bestEffort }),
    enqueue(kind, payload, options = {}) {
      if (!hasDatabase)
        throw new Dead(
          `enqueuing ${kind} needs a database, but store is none. Remove store: none from the config`,
        )
      followUps.push({ kind, payload, options })
    },
  })
  return { replies, followUps }
}

/** The maximum length of a Telegram message. */
const LONGEST = 4_096

export function messages(chatId: number, text: string): Reply[] {
  const parts: string[] = []
  // Split by characters, so that no surrogate pair is cut in two.
  let part = ''
  for (const character of text) {
    if (part.length + character.length > LONGEST) {
      parts.push(part)
      part = ''
    }
    part += character
  }
  parts.push(part)
  return parts
    .filter((one) => one.trim() !== '')
    .map((one) => ({ method: 'sendMessage', payload: { chat_id: chatId, text: one }, bestEffort: false }))
}
