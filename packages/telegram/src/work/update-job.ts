/** An update of a durable bot, as a job: the handler runs, and what it wants sent is written with its end. */
import { Dead, type DeadContext, defineJob, type JobContext, type JobDefinition } from 'jobmill'
import { type Bot, deadNotice, isListed, promptOf } from '../bots/bot.ts'
import { handle, messages, type Reply } from '../handlers/handler.ts'
import type { Seen } from '../sessions/seen.ts'
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
  /** As Telegram sent it, unknown fields included. */
  readonly update: RawUpdate
  /** What it was read from, where numbers in it are longer than a program can hold. */
  readonly text?: string
  /** Of one that failed already: so long after it was enqueued it is tried again. Not as a delay, since what is delayed is not in the line of its chat. */
  readonly waitMs?: number
}

export interface UpdateTools {
  readonly bots: readonly Bot[]
  readonly sessions: Sessions
  readonly seen: Seen
  /** By the clock of the database: that of a process may be wrong. */
  readonly now: () => Promise<number>
  readonly fault: Fault
  readonly random: () => number
}

const SOMEBODY_HAS_IT_MS = 1_000

export function updateJob(
  bot: Bot,
  { bots, sessions, seen, now, fault, random }: UpdateTools,
): JobDefinition<UpdatePayload> {
  type Enqueue = JobContext['enqueue']

  /** Written in the transaction that ends the job, so each is there once, whatever happens. */
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
    // By a process in which the bot is synchronous: see isDurable in door/at-once.ts.
    const standing = await seen.stateOf({ botId: bot.id, updateId: facts.updateId })
    if (standing === 'handled') return { handled: 'no', because: 'it was handled while Telegram waited' }
    if (standing === 'running') return snooze(SOMEBODY_HAS_IT_MS)
    if (!isListed(bot, facts.userId))
      return { handled: 'no', because: 'the sender is not on the list any more' }
    if (bot.requireAuth && !(await isStillAllowed(facts.userId))) {
      if (facts.chatId !== null && facts.isTalk)
        await send(enqueue, job.id, messages(facts.chatId, promptOf(bot, bots)))
      await fault('update.prompted', facts.chatId)
      return { handled: 'no', because: 'the session is over' }
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
      // The next attempt would come to the same.
      throw isHopeless(error) ? new Dead(String(error), { cause: error }) : error
    }
    await fault('update.handled', facts.chatId)
    return { handled: 'yes', replies: replies.length }
  }

  async function isStillAllowed(userId: number | null): Promise<boolean> {
    return userId !== null && sessions.isOpen(userId, bot.slug)
  }

  /** A job of its own, which the death itself enqueued: the notice is written with its end, once. */
  async function onDead({ payload, dead, job, enqueue }: DeadContext<UpdatePayload>): Promise<void> {
    const facts = factsOf(payload.update)
    await fault('dead.begun', facts.chatId)
    // One that was tried again by hand may die again, and is told of again.
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
