/** For jobs of your own (`handler: job`): a reply through the gateway's outbox, from any process on the same database. */
import type { EnqueueOptions } from 'jobmill'
import { messages } from '../handlers/handler.ts'
import { sendKind } from './names.ts'
import { optionsOf, sendPayload } from './send-job.ts'

export interface ReplyTo {
  readonly bot: { readonly slug: string; readonly id: number }
  readonly chatId: number
  readonly text: string
  /** What it answers, such as the id of your job: then it is written once, however often this is called. Needed where it is not written with the completion. */
  readonly of?: string
}

/** `enqueue` of a handler's context, or of a mill. */
type Enqueue<Options> = (
  kind: string,
  payload: unknown,
  options: EnqueueOptions & Options,
) => Promise<unknown>

/** With `{ withCompletion: true }` the reply is written with the end of your job: once, whatever happens. */
export async function reply<Options extends object>(
  enqueue: Enqueue<Options>,
  { bot, chatId, text, of }: ReplyTo,
  options: Options,
): Promise<void> {
  for (const [n, message] of messages(chatId, text).entries()) {
    const payload = sendPayload(bot, message, of === undefined ? null : `${of}/${n}`)
    await enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), ...options })
  }
}
