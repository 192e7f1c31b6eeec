/** The interface of the fake Telegram for tests. */

export interface FakeTelegramOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** The first update id of bots that do not set their own. */
  readonly updateIdFrom?: number
  /** How long a webhook may take to answer (default 60,000). */
  readonly webhookTimeoutMs?: number
  /** Multiplies the waits between delivery attempts (default 1): 0.01 turns 2 s into 20 ms. */
  readonly retryScale?: number
  /** Default: no limits. */
  readonly limits?: SendLimits
  /**
   * The current time for dates, limits and the age of updates (default: the real time). Waits always take
   * real time.
   */
  readonly clock?: () => number
}

/** Messages above a limit are answered with 429. */
export interface SendLimits {
  readonly perChatPerSecond?: number
  readonly perGroupPerMinute?: number
  readonly perBotPerSecond?: number
  /**
   * Shortens a second and a minute by this much, because messages arrive less evenly than they are sent
   * (default 100).
   */
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

export interface ChatOptions {
  /** The token of the chat's bot. */
  readonly bot: string
  readonly id: number
  /** The sender of messages, unless a message names another one. */
  readonly user?: FakeUser
  readonly type?: 'private' | 'group' | 'supergroup'
}

export interface SaysOptions {
  readonly from?: FakeUser
  /** Fields to add to the message or to override: `{ text: undefined, photo: [] }`. */
  readonly message?: Readonly<Record<string, unknown>>
  /** Continues the update ids of the bot from here, as after a week without updates. */
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
  /** Writes a message. The bot gets an update if it requested messages. */
  readonly says: (text: string, options?: SaysOptions) => Said
  /**
   * Delivers an update of another type, such as `{ edited_message: {} }`, in the order of this chat. Returns
   * its id.
   */
  readonly gives: (update: Readonly<Record<string, unknown>>) => number
  /** The messages of both sides, in the order in which they were accepted. */
  readonly transcript: () => readonly TranscriptEntry[]
  /**
   * Resolves as soon as the condition holds; rejects with the transcript after `timeoutMs` (default 10,000).
   */
  readonly until: (
    holds: (transcript: readonly TranscriptEntry[]) => boolean,
    timeoutMs?: number,
  ) => Promise<readonly TranscriptEntry[]>
}

export interface FaultyAnswer {
  /** The error code, also used as the HTTP status. */
  readonly error: number
  /** Default: the HTTP reason phrase, or Telegram's words if `retryAfter` is set. */
  readonly description?: string
  /** Seconds, also sent as a header. */
  readonly retryAfter?: number
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Answers with an HTML page instead of JSON, as a proxy in front of Telegram would. */
  readonly html?: boolean
  readonly delayMs?: number
}

/**
 * `reset`: drops the connection and does nothing. `lost`: does the work, then drops the connection. `delayMs`
 * alone: does the work after that time, even if the caller has disconnected.
 */
export type Fault = 'reset' | 'lost' | { readonly delayMs: number } | FaultyAnswer

export type CallAnswer = 'reset' | 'lost' | { readonly status: number; readonly body: unknown }

export interface FakeCall {
  /** The token of the call, known or not. */
  readonly bot: string
  readonly method: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly at: number
  /** Null until the call is answered. */
  readonly answer: CallAnswer | null
}

/** One finished POST to a webhook. */
export interface Delivery {
  readonly bot: string
  readonly updateId: number
  readonly chatId: number
  /** Starts at 1. */
  readonly attempt: number
  readonly at: number
  readonly ms: number
  /** Null if no response arrived. */
  readonly status: number | null
  /** The error that `getWebhookInfo` reports; null on success. */
  readonly error: string | null
}

export interface FakeTelegram {
  /** The `apiRoot` of grammY. */
  readonly url: string
  /** In the order of arrival. */
  readonly calls: readonly FakeCall[]
  /** In the order in which they finished. */
  readonly deliveries: readonly Delivery[]
  readonly addBot: (bot: NewBot) => void
  /** Creates a chat, or returns the existing one. A bot can write only to existing chats. */
  readonly chat: (options: ChatOptions) => FakeChat
  /**
   * Queues faults for the next calls of a method. `*` matches calls of any method that has no queued fault.
   */
  readonly next: (method: string, ...faults: readonly Fault[]) => void
  /** Sets the state of a chat for all bots. A migrated chat needs `to`, the id of its successor. */
  readonly chatIs: (id: number, state: ChatStanding, options?: { readonly to?: number }) => void
  /**
   * Delivers an update once more, as if the webhook's response had been lost. Ignores the order of its chat
   * and does not retry.
   */
  readonly redeliver: (updateId: number, options?: { readonly bot?: string }) => Promise<Delivery>
  /** Resolves as soon as the condition holds. It is checked after every change. */
  readonly until: (holds: () => boolean, timeoutMs?: number) => Promise<void>
  readonly close: () => Promise<void>
}

export type ChatStanding = 'open' | 'blocked' | 'migrated'
