/** A method of the Bot API, and what it gets from the fake. */
import type { Bot } from '../bot.ts'
import type { Params } from './params.ts'
import type { Changes } from '../changes.ts'
import type { TakePlace } from '../send-limits.ts'
import type { ChatStanding, Delivery } from '../types.ts'

export interface MethodResult {
  readonly result: unknown
  readonly description?: string
}

export interface Standing {
  readonly state: ChatStanding
  readonly to?: number | undefined
}

/** The state that all bots of the fake share. */
export interface World {
  readonly clock: () => number
  readonly changes: Changes
  readonly standing: (chatId: number) => Standing
  readonly takePlace: TakePlace
  readonly retryScale: number
  readonly webhookTimeoutMs: number
  /** Called for each finished POST to a webhook. */
  readonly record: (delivery: Delivery) => void
  /** Aborts delayed calls. */
  readonly closing: AbortSignal
}

/** Throws a `Refusal` for errors. `gone` fires when the caller disconnects. */
export type Method = (
  bot: Bot,
  params: Params,
  world: World,
  gone: AbortSignal,
) => MethodResult | Promise<MethodResult>
