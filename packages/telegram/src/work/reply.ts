/**
 * Replies from your own jobs (`handler: job`) through the gateway's outbox, from any process on the same
 * database.
 */
import { type EnqueueOptions, JobmillError } from 'jobmill'
import { checkObjectKeys } from 'jobmill/internal'
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
  to: ReplyTo,
  options: Options,
): Promise<void> {
  const { bot, chatId, text, of } = checkTo(to)
  for (const [n, message] of messages(chatId, text).entries()) {
    const payload = sendPayload(bot, message, of === undefined ? null : `${of}/${n}`)
    await enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), ...options })
  }
}

function checkTo(to: ReplyTo): ReplyTo {
  checkObjectKeys(to, 'to', ['bot', 'chatId', 'text', 'of'])
  const bot: Partial<ReplyTo['bot']> = Object(to.bot) as object
  if (typeof bot.slug !== 'string' || typeof bot.id !== 'number')
    throw invalid('bot', 'must have a slug and an id', 'Pass the bot of the payload')
  if (!Number.isSafeInteger(to.chatId))
    throw invalid('chatId', 'must be a whole number', 'Pass the id of the chat')
  if (typeof to.text !== 'string') throw invalid('text', 'must be a string', 'Pass the text of the reply')
  return to
}

function invalid(field: string, message: string, fix: string): JobmillError {
  return new JobmillError('OPTION_INVALID', message, { field: `to.${field}`, fix })
}
