/** A method of the Bot API, and what it gets from the fake. */
import type { Bot } from './bot.ts'
import type { Params } from './params.ts'
import type { TakePlace } from './send-limits.ts'
import type { ChatStanding } from './types.ts'
import type { WebhookParts } from './webhook.ts'

export interface MethodResult {
  readonly result: unknown
  readonly description?: string
}

export interface Standing {
  readonly state: ChatStanding
  readonly to?: number | undefined
}

export interface MethodParts {
  readonly clock: () => number
  readonly standing: (chatId: number) => Standing
  readonly takePlace: TakePlace
  readonly webhookParts: WebhookParts
  /** Fires when the caller disconnects. */
  readonly gone: AbortSignal
}

/** Throws a `Refusal` for errors. */
export type Method = (bot: Bot, params: Params, parts: MethodParts) => MethodResult | Promise<MethodResult>
