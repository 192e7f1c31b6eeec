/** Forwards the update as a job of your own kind, which any process on the same database can run. */
import type { JobTarget } from '../config/config.ts'
import { keptText } from '../update/exact-text.ts'
import { orderKeyOf } from '../update/update.ts'
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
    const {
      bot: { slug, id },
      update,
      enqueue,
    } = context
    const bot = { slug, id }
    const orderKey = orderKeyOf(bot.id, context)
    const text = keptText(update)
    enqueue(kind, { bot, update, ...(text === undefined ? {} : { text }) } satisfies TelegramUpdate, {
      ...(queue === null ? {} : { queue }),
      ...(orderKey === null ? {} : { orderKey }),
    })
  }
}
