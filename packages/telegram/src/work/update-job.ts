/**
 * An update as a job: runs the handler and writes its replies in the transaction that completes the job.
 */
import { Dead, type DeadContext, defineJob, type JobContext, type JobDefinition } from 'jobmill'
import { type Bot, deadNotice, isListed, loginPrompt } from '../bots/bot.ts'
import { deletionOf } from '../handlers/auth.ts'
import { handle, type Reply } from '../handlers/handler.ts'
import type { Inside } from '../inside.ts'
import { factsOf, keepText, type RawUpdate, type UpdateFacts, updateKey } from '../update/update.ts'
import { retryWaitMs } from './backoff.ts'
import { isHopeless } from './hopeless.ts'
import { sendKind, updateKind, updateQueue } from './names.ts'
import { optionsOf, sendPayload } from './send-job.ts'

export interface UpdatePayload {
  readonly botId: number
  readonly slug: string
  readonly handler: string
  /** The update as Telegram sent it, unknown fields included. */
  readonly update: RawUpdate
  /** The JSON of the update, if it has numbers that JavaScript cannot represent. */
  readonly text?: string
  /** For the login bot, whose update is reduced to its id: the facts, with hashes instead of codes. */
  readonly facts?: UpdateFacts
}

export function updateJob(
  bot: Bot,
  { bots, sessions, handlerMs, isDurable, fault, random }: Inside,
): JobDefinition<UpdatePayload> {
  type Enqueue = JobContext['enqueue']

  /** Written in the transaction that completes the job, so that each reply exists once. */
  async function send(enqueue: Enqueue, of: string, replies: readonly Reply[]): Promise<void> {
    for (const [n, reply] of replies.entries()) {
      const payload = sendPayload(bot, reply, `${of}/${n}`)
      await enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), withCompletion: true })
    }
  }

  /** Written before the handler runs, so that a code is deleted even if handling it fails. */
  async function hideCode(enqueue: Enqueue, of: string, facts: UpdateFacts): Promise<void> {
    for (const deletion of deletionOf(bot, facts)) {
      const payload = sendPayload(bot, deletion, `${of}/deletion`)
      await enqueue(sendKind(bot), payload, optionsOf(bot, payload))
    }
  }

  async function run({ payload, job, signal, log, enqueue }: JobContext<UpdatePayload>): Promise<unknown> {
    const { update, text } = payload
    if (text !== undefined) keepText(update, text)
    const facts = factsIn(payload)
    await fault('update.begun', facts.chatId)
    if (!isListed(bot, facts.userId))
      return { handled: 'no', because: 'the sender is no longer on the allow list' }
    if (bot.requireAuth && !(await sessions.isOpen(facts.userId, bot.slug))) {
      await send(enqueue, job.id, loginPrompt(bot, bots, facts))
      await fault('update.prompted', facts.chatId)
      return { handled: 'no', because: 'the sender is no longer logged in' }
    }
    await hideCode(enqueue, job.id, facts)
    const { slug, id, username } = bot
    const given = { bot: { slug, id, username }, update, attempt: job.attempt, signal, log, ...facts }
    const handling = handle(bot.handle, { ...given, key: updateKey(id, facts.updateId) }, isDurable)
    const { replies, followUps } = await (bot.async ? handling : unlessAborted(handling, signal))
    try {
      await send(enqueue, job.id, replies)
      for (const { kind, payload: given, options } of followUps)
        await enqueue(kind, given, { ...options, withCompletion: true })
    } catch (error) {
      // Another attempt would fail the same way.
      throw isHopeless(error) ? new Dead(String(error), { cause: error }) : error
    }
    await fault('update.handled', facts.chatId)
    return { handled: 'yes', replies: replies.length }
  }

  /**
   * Runs as a separate job, which is enqueued when the update fails permanently. The notice is written in the
   * transaction that completes that job.
   */
  async function onDead({ payload, dead, job, enqueue }: DeadContext<UpdatePayload>): Promise<void> {
    const facts = factsIn(payload)
    await fault('dead.begun', facts.chatId)
    // A job that was retried by hand may die again, and then notifies again.
    await send(enqueue, `${dead.id}/${job.id}`, deadNotice(bot, facts))
  }

  return defineJob({
    kind: updateKind(bot),
    queue: updateQueue(bot),
    maxAttempts: bot.retry.attempts,
    ...(bot.async ? {} : { timeout: handlerMs }),
    backoff: ({ attempt }) => retryWaitMs(bot.retry, attempt, random()),
    run,
    onDead,
  })
}

function factsIn({ facts, update }: UpdatePayload): UpdateFacts {
  return facts ?? factsOf(update)
}

/** A handler that ignores its signal is abandoned, and its result is discarded. */
async function unlessAborted<T>(handling: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([handling, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
