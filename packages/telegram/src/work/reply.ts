/**
 * Replies from your own jobs (`handler: job`) through the gateway's outbox, from any process on the same
 * database.
 */
import type { EnqueueOptions } from 'jobmill'
import { messages } from '../handlers/handler.ts'
import { sendKind } from './names.ts'
import { optionsOf, sendPayload } from './send-job.ts'

export interface ReplyTo {
  readonly bot: { readonly slug: string; readonly id: number }
  readonly chatId: number
  readonly text: string
  /**
   * What the reply belongs to, such as the id of your job. The reply is then written once, however often you
   * call this function. Pass it unless you use `withCompletion`.
   */
  readonly of?: string
}

/** `enqueue` of a handler's context or of a mill. */
type Enqueue<Options> = (
  kind: string,
  payload: unknown,
  options: EnqueueOptions & Options,
) => Promise<unknown>

/**
 * With `{ withCompletion: true }` the reply is written in the transaction that completes your job, exactly
 * once.
 */
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
