/** Forwards the update as a job of your own kind, which any process on the same database can run. */
import type { JobTarget } from '../config/config.ts'
import { keptText, orderKeyOf } from '../update/update.ts'
import type { Handler } from './handler.ts'

/** The payload of the forwarded job. */
export interface TelegramUpdate {
  readonly bot: { readonly slug: string; readonly id: number }
  readonly update: Readonly<Record<string, unknown>>
  /** The JSON that Telegram posted, if it has numbers that JavaScript cannot represent. */
  readonly text?: string
}

export function job({ kind, queue }: JobTarget): Handler {
  return (context) => {
    const { update, enqueue } = context
    const { slug, id } = context.bot
    const orderKey = orderKeyOf(id, context)
    const text = keptText(update)
    const payload: TelegramUpdate = { bot: { slug, id }, update, ...(text !== undefined && { text }) }
    enqueue(kind, payload, { ...(queue !== null && { queue }), ...(orderKey !== null && { orderKey }) })
  }
}
