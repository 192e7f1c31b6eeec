/**
 * An update of a durable bot as a job: runs the handler and writes its replies in the transaction that
 * completes the job.
 */
import { Dead, type DeadContext, defineJob, type JobContext, type JobDefinition } from 'jobmill'
import { type Bot, deadNotice, isListed, promptOf } from '../bots/bot.ts'
import { handle, messages, type Reply } from '../handlers/handler.ts'
import type { UpdateClaims } from '../sessions/update-claims.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { keepText } from '../update/exact-text.ts'
import { factsOf, type RawUpdate, updateKey } from '../update/update.ts'
import { retryWaitMs } from './backoff.ts'
import type { Fault } from './fault.ts'
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
  /**
   * For a failed update: how long after enqueuing it is retried. Not a delay, because a delayed job does not
   * hold its place in the order queue.
   */
  readonly waitMs?: number
}

export interface UpdateTools {
  readonly bots: readonly Bot[]
  readonly sessions: Sessions
  readonly claims: UpdateClaims
  /** The database clock, because a process clock may be wrong. */
  readonly now: () => Promise<number>
  readonly fault: Fault
  readonly random: () => number
}

const IN_USE_MS = 1_000

export function updateJob(
  bot: Bot,
  { bots, sessions, claims, now, fault, random }: UpdateTools,
): JobDefinition<UpdatePayload> {
  type Enqueue = JobContext['enqueue']

  /** Written in the transaction that completes the job, so that each reply exists once. */
  async function send(enqueue: Enqueue, of: string, replies: readonly Reply[]): Promise<void> {
    for (const [n, reply] of replies.entries()) {
      const payload = sendPayload(bot, reply, `${of}/${n}`)
      await enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), withCompletion: true })
    }
  }

  async function run({
    payload,
    job,
    signal,
    log,
    enqueue,
    snooze,
  }: JobContext<UpdatePayload>): Promise<unknown> {
    const { update, text, waitMs = 0 } = payload
    if (text !== undefined) keepText(update, text)
    const leftMs = waitMs === 0 ? 0 : job.enqueuedAt + waitMs - (await now())
    if (leftMs > 0) return snooze(leftMs)
    const facts = factsOf(update)
    await fault('update.begun', facts.chatId)
    // A process in which the bot is synchronous may have handled it: see isDurable in intake/at-once.ts.
    const state = await claims.stateOf({ botId: bot.id, updateId: facts.updateId })
    if (state === 'handled') return { handled: 'no', because: 'it was already handled synchronously' }
    if (state === 'running') return snooze(IN_USE_MS)
    if (!isListed(bot, facts.userId))
      return { handled: 'no', because: 'the sender is no longer on the allow list' }
    if (bot.requireAuth && !(await isStillAllowed(facts.userId))) {
      if (facts.chatId !== null && facts.isTalk)
        await send(enqueue, job.id, messages(facts.chatId, promptOf(bot, bots)))
      await fault('update.prompted', facts.chatId)
      return { handled: 'no', because: 'the sender is no longer logged in' }
    }
    const { slug, id, username } = bot
    const { replies, followUps } = await handle(
      bot.handle,
      {
        ...facts,
        bot: { slug, id, username },
        update,
        key: updateKey(bot.id, facts.updateId),
        attempt: job.attempt,
        signal,
        log,
      },
      true,
    )
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

  async function isStillAllowed(userId: number | null): Promise<boolean> {
    return userId !== null && sessions.isOpen(userId, bot.slug)
  }

  /**
   * Runs as a separate job, which is enqueued when the update fails permanently. The notice is written in the
   * transaction that completes that job.
   */
  async function onDead({ payload, dead, job, enqueue }: DeadContext<UpdatePayload>): Promise<void> {
    const facts = factsOf(payload.update)
    await fault('dead.begun', facts.chatId)
    // A job that was retried by hand may die again, and then notifies again.
    await send(enqueue, `${dead.id}/${job.id}`, deadNotice(bot, facts))
  }

  return defineJob({
    kind: updateKind(bot),
    queue: updateQueue(bot),
    maxAttempts: bot.retry.attempts,
    backoff: ({ attempt }) => retryWaitMs(bot.retry, attempt, random()),
    run,
    onDead,
  })
}
