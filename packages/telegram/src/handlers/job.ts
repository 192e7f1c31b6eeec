/** Hands the update on as a job of a kind of yours, which any process on the same database can serve. */
import type { JobTarget } from '../config/config.ts'
import { orderKeyOf } from '../update/update.ts'
import type { Handler } from './handler.ts'

/** The payload of such a job. */
export interface TelegramUpdate {
  readonly bot: { readonly slug: string; readonly id: number }
  readonly update: Readonly<Record<string, unknown>>
}

export function job({ kind, queue }: JobTarget): Handler {
  return (context) => {
    const { bot, update, enqueue } = context
    const orderKey = orderKeyOf(bot.id, context)
    enqueue(kind, { bot, update } satisfies TelegramUpdate, {
      ...(queue === null ? {} : { queue }),
      ...(orderKey === null ? {} : { orderKey }),
    })
  }
}
