/** What answers an update. The same for a bot that answers while Telegram waits and for one whose updates are jobs. */
import { Dead, type EnqueueOptions } from 'jobmill'
import type { RawUpdate, UpdateFacts } from '../update/update.ts'

/** A call of the Bot API that is made once the update counts as handled, and not before. */
export interface Reply {
  readonly method: string
  readonly payload: Readonly<Record<string, unknown>>
  /** Whether it matters: what does not may be refused by Telegram without anybody hearing of it. */
  readonly bestEffort: boolean
}

/** A job of yours that begins with the end of this one. */
export interface FollowUp {
  readonly kind: string
  readonly payload: unknown
  readonly options: EnqueueOptions
}

export interface HandlerContext extends UpdateFacts {
  /** `username`: null until Telegram told it. */
  readonly bot: { readonly slug: string; readonly id: number; readonly username: string | null }
  /** As Telegram sent it. */
  readonly update: RawUpdate
  /** The same for every delivery and every attempt of this update. */
  readonly key: string
  /** 1 at the first try. */
  readonly attempt: number
  readonly signal: AbortSignal
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** Sends a text to the chat of the update: in several messages where it is too long for one, not at all when it is empty. */
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

export interface Handled {
  readonly replies: readonly Reply[]
  readonly followUps: readonly FollowUp[]
}

export type Given = Omit<HandlerContext, 'reply' | 'call' | 'enqueue'>

/** Runs a handler and collects what it wants done. */
export async function handle(handler: Handler, given: Given, hasDatabase: boolean): Promise<Handled> {
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
        throw new Dead(`a job ${kind} needs a database, and store is none: leave store out of the config`)
      followUps.push({ kind, payload, options })
    },
  })
  return { replies, followUps }
}

/** What Telegram takes as one message. */
const LONGEST = 4_096

export function messages(chatId: number, text: string): Reply[] {
  const parts: string[] = []
  // By characters, so that none is cut in two.
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
