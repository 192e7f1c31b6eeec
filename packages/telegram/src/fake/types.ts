/** What a test holds of a fake Telegram. */

export interface FakeTelegramOptions {
  /** Default 0: any that is free. */
  readonly port?: number
  /** The first update id of bots that name none themselves. */
  readonly updateIdFrom?: number
  /** How long a webhook may take to answer (default 60,000). */
  readonly webhookTimeoutMs?: number
  /** What the waits between deliveries are multiplied by (default 1): 0.01 makes 20 ms of 2 s. */
  readonly retryScale?: number
  /** Default: everything is accepted, however fast. */
  readonly limits?: SendLimits
  /** What time it is (default: the real time), for dates, limits and the age of updates. Waits are always real. */
  readonly clock?: () => number
}

/** More messages than this are answered with 429. */
export interface SendLimits {
  readonly perChatPerSecond?: number
  readonly perGroupPerMinute?: number
  readonly perBotPerSecond?: number
  /** How much shorter a second and a minute are here, as messages do not arrive as evenly as they are sent (default 100). */
  readonly slackMs?: number
}

export interface NewBot {
  /** `123:abcdefghij`: the number before the colon is the bot's id. */
  readonly token: string
  readonly username: string
  readonly updateIdFrom?: number
}

export interface FakeUser {
  readonly id: number
  readonly first_name: string
  readonly last_name?: string
  readonly username?: string
  readonly language_code?: string
}

export type ChatType = 'private' | 'group' | 'supergroup'

export interface ChatOptions {
  /** The token of the bot that it is with. */
  readonly bot: string
  readonly id: number
  /** Who talks unless a message says otherwise. */
  readonly user?: FakeUser
  readonly type?: ChatType
}

export interface SaysOptions {
  readonly from?: FakeUser
  /** More fields of the message, or others than usual: `{ text: undefined, photo: [] }`. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Where the bot's update ids go on, as after a week of silence. */
  readonly updateId?: number
}

export interface Said {
  readonly messageId: number
  readonly updateId: number
}

export interface TranscriptEntry {
  readonly by: 'user' | 'bot'
  readonly messageId: number
  readonly text: string
  readonly at: number
  readonly deleted: boolean
}

export interface FakeChat {
  readonly id: number
  /** Somebody writes, and the bot gets an update, unless it does not want messages. */
  readonly says: (text: string, options?: SaysOptions) => Said
  /** An update of any other type, `{ edited_message: {} }`, delivered in the order of this chat. Returns its id. */
  readonly gives: (update: Readonly<Record<string, unknown>>) => number
  /** Both sides, in the order in which they were accepted. */
  readonly transcript: () => readonly TranscriptEntry[]
  /** Resolves as soon as it holds; rejects with the transcript after `timeoutMs` (default 10,000). */
  readonly until: (
    holds: (transcript: readonly TranscriptEntry[]) => boolean,
    timeoutMs?: number,
  ) => Promise<readonly TranscriptEntry[]>
}

export interface FaultyAnswer {
  /** Also the status. */
  readonly error: number
  /** Default: what Telegram says with that code. */
  readonly description?: string
  /** Seconds, also sent as a header. */
  readonly retryAfter?: number
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Answers as something in front of Telegram would: a page instead of JSON. */
  readonly html?: boolean
  readonly delayMs?: number
}

/**
 * `reset`: nothing was done, and the connection is gone. `lost`: all was done, and the connection is gone. `delayMs` alone: it is
 * done after that time, also when nobody waits for the answer any more.
 */
export type Fault = 'reset' | 'lost' | { readonly delayMs: number } | FaultyAnswer

export type CallAnswer = 'reset' | 'lost' | { readonly status: number; readonly body: unknown }

export interface FakeCall {
  /** The token that was used, known or not. */
  readonly bot: string
  readonly method: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly at: number
  /** Null as long as there is none. */
  readonly answer: CallAnswer | null
}

/** One POST to a webhook that ended. */
export interface Delivery {
  readonly bot: string
  readonly updateId: number
  readonly chatId: number
  /** Counts from 1. */
  readonly attempt: number
  readonly at: number
  readonly ms: number
  /** Null when no answer came. */
  readonly status: number | null
  /** What `getWebhookInfo` tells of it; null when it was taken. */
  readonly error: string | null
}

export interface FakeTelegram {
  /** The `apiRoot` of grammY. */
  readonly url: string
  /** In the order in which they came in. */
  readonly calls: readonly FakeCall[]
  /** In the order in which they ended. */
  readonly deliveries: readonly Delivery[]
  readonly addBot: (bot: NewBot) => void
  /** A chat that is there already is the same again. To others a bot cannot write. */
  readonly chat: (options: ChatOptions) => FakeChat
  /** What the next calls of a method get, one after the other; `*` for calls of any method that has nothing queued. */
  readonly next: (method: string, ...faults: readonly Fault[]) => void
  /** For all bots. A chat migrates to one that bots of the old one can write to. */
  readonly chatIs: (id: number, state: ChatStanding, options?: { readonly to?: number }) => void
  /** Once more, as if the answer of the webhook had been lost, past the order of its chat and without retries. */
  readonly redeliver: (updateId: number, options?: { readonly bot?: string }) => Promise<Delivery>
  /** Resolves as soon as it holds; looked at whenever something happened here. */
  readonly until: (holds: () => boolean, timeoutMs?: number) => Promise<void>
  readonly close: () => Promise<void>
}

export type ChatStanding = 'open' | 'blocked' | 'migrated'
