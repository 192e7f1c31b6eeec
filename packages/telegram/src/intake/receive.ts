/**
 * Decides what happens to an update, from a webhook or a poll: checks the sender, enqueues a job, and waits
 * for it if the bot is synchronous.
 */
import type { EnqueuedJob, JobHandle, Mill } from 'jobmill'
import { type Bot, deadNotice, isListed, loginPrompt } from '../bots/bot.ts'
import { concealed, deletionOf } from '../handlers/auth.ts'
import type { Reply } from '../handlers/handler.ts'
import type { Inside } from '../inside.ts'
import {
  factsOf,
  keptText,
  orderKeyOf,
  type RawUpdate,
  type UpdateFacts,
  updateKey,
} from '../update/update.ts'
import type { Result } from '../work/metrics.ts'
import { isHopeless } from '../work/hopeless.ts'
import { sendKind, updateKind, updateQueue } from '../work/names.ts'
import { optionsOf, replyKey, sendPayload } from '../work/send-job.ts'
import type { UpdatePayload } from '../work/update-job.ts'
import { type Ending, untilEnded as waitFor } from './until-ended.ts'

export interface Received {
  readonly result: Result
  /** After how long Telegram should deliver the update again. */
  readonly retryAfterMs?: number
}

export type Receive = ReturnType<typeof receiver>

/** Results after which Telegram must deliver the update again. */
export const MUST_RETRY: readonly Result[] = ['busy', 'unstored']

/**
 * Logs and counts the result of an update, even after an error. Updates that no database can store, such as a
 * text with NUL, are dropped: a retry would block their chat for a day. All others are retried.
 */
export async function recordResult(
  { log, metrics }: Pick<Inside, 'log' | 'metrics'>,
  bot: Bot,
  update: RawUpdate,
  receiving: Promise<Received>,
): Promise<Received> {
  const about = { bot: bot.slug, update: update.update_id }
  const received = await receiving.catch((error: unknown): Received => {
    log('error', 'update could not be stored', { ...about, error: String(error) })
    return { result: isHopeless(error) ? 'dead' : 'unstored' }
  })
  metrics.received(bot.slug, received.result)
  if (received.result === 'duplicate') log('info', 'duplicate update ignored', about)
  return received
}

/**
 * The returned function rejects if the update could not be stored or the sender not checked. Telegram must
 * then deliver it again.
 */
export function receiver(inside: Inside, mill: Mill<never>) {
  const { bots, isDurable, sessions, codes, log, config } = inside
  const untilEnded = waitFor(inside, mill)

  /**
   * The dedupe key is held for days after the job ended: a redelivery changes nothing and is reported as a
   * duplicate.
   */
  const once = (bot: Bot, { updateId }: UpdateFacts) =>
    ({ key: updateKey(bot.id, updateId), holdFor: config.dedupeMs, holdAfter: 'ended' }) as const

  /**
   * Sends messages that are the only result of an update, once, however often the update is delivered.
   * Returns their jobs, which are duplicates if the update was answered before.
   */
  async function say(bot: Bot, facts: UpdateFacts, replies: readonly Reply[], name: 'prompt' | 'dead') {
    const dedupe = once(bot, facts)
    const items = replies.map((reply, n) => {
      const payload = sendPayload(bot, reply, `${dedupe.key}/${name}/${n}`)
      // The first reply has the key of the update.
      return { payload, ...optionsOf(bot, payload), ...(n === 0 && { dedupe }) }
    })
    return items.length === 0 ? [] : mill.enqueueMany(sendKind(bot), items)
  }

  /** Explains to a user without a session how to log in, in reply to a message. */
  async function prompt(bot: Bot, facts: UpdateFacts): Promise<Received> {
    const jobs = await say(bot, facts, loginPrompt(bot, bots, facts), 'prompt')
    if (jobs.length === 0) return { result: 'dropped' }
    const unsent = isDurable ? null : await firstOpen(jobs)
    return unsent ?? { result: isRepeat(jobs) ? 'duplicate' : 'prompted' }
  }

  async function store(
    bot: Bot,
    update: RawUpdate,
    facts: UpdateFacts,
    isPolled: boolean,
  ): Promise<Received> {
    const orderKey = bot.ordered || !bot.async ? orderKeyOf(bot.id, facts) : null
    let job: EnqueuedJob
    try {
      job = await mill.enqueue(updateKind(bot), payloadOf(bot, update, facts), {
        queue: updateQueue(bot),
        maxAttempts: bot.retry.attempts,
        dedupe: once(bot, facts),
        ...(orderKey !== null && { orderKey }),
      })
    } catch (error) {
      if (!isHopeless(error)) throw error
      log('error', 'update failed permanently, because the database cannot store it', {
        bot: bot.slug,
        update: facts.updateId,
        error: String(error),
      })
      const replies = [...deadNotice(bot, facts), ...deletionOf(bot, facts)]
      return { result: isRepeat(await say(bot, facts, replies, 'dead')) ? 'duplicate' : 'dead' }
    }
    const known = isRepeat([job]) ? 'duplicate' : 'queued'
    if (isDurable && (bot.async || isPolled || known === 'duplicate')) return { result: known }
    const ending = await untilEnded(job)
    if (ending.state === 'open') return isDurable ? { result: known } : busy(ending)
    // Without a database, replies are lost with the process. So Telegram keeps the update until its replies
    // are sent.
    const unsent = isDurable || ending.state !== 'done' ? null : await firstOpen(await repliesTo(job.id))
    return unsent ?? { result: known === 'duplicate' ? known : ENDED[ending.state] }
  }

  function payloadOf(bot: Bot, update: RawUpdate, facts: UpdateFacts): UpdatePayload {
    const { slug, id: botId, handler } = bot
    // Login codes must not be readable in the database, so their hashes replace them.
    if (handler === 'auth' && codes !== null) {
      const update = { update_id: facts.updateId }
      return { botId, slug, handler, update, facts: concealed(bot, facts, codes.seal) }
    }
    const text = keptText(update)
    return { botId, slug, handler, update, ...(text !== undefined && { text }) }
  }

  /** Waits for replies. Returns the response if one of them is not sent yet. */
  async function firstOpen(replies: readonly JobHandle[]): Promise<Received | null> {
    const endings = await Promise.all(replies.map(untilEnded))
    const open = endings.find(({ state }) => state === 'open')
    return open === undefined ? null : busy(open)
  }

  /** The jobs of the replies have numbered keys. */
  async function repliesTo(jobId: string, n = 0): Promise<JobHandle[]> {
    const reply = await mill.holder(replyKey(`${jobId}/${n}`))
    return reply === null ? [] : [mill.job(reply), ...(await repliesTo(jobId, n + 1))]
  }

  /** `isPolled`: Telegram waits for no response to a polled update. */
  return async (bot: Bot, update: RawUpdate, { isPolled = false } = {}): Promise<Received> => {
    const facts = factsOf(update)
    // Nothing is stored for refused users, so that they cannot fill the database. Redeliveries are detected
    // before refusals.
    if (!isListed(bot, facts.userId))
      return { result: (await mill.holder(once(bot, facts).key)) === null ? 'dropped' : 'duplicate' }
    // The update of a user without a session is not stored: it may contain a code.
    if (bot.requireAuth && !(await sessions.isOpen(facts.userId, bot.slug))) return prompt(bot, facts)
    try {
      return await store(bot, update, facts, isPolled)
    } catch (error) {
      // The job of an update deletes its code. Without a job, it is deleted now, and after every redelivery.
      for (const { method, payload } of deletionOf(bot, facts)) await bot.call(method, payload)
      throw error
    }
  }
}

const ENDED = { done: 'handled', dead: 'dead', cancelled: 'dropped' } as const

function busy(ending: Ending): Received {
  return { result: 'busy', ...('retryAfterMs' in ending ? { retryAfterMs: ending.retryAfterMs } : {}) }
}

function isRepeat([first]: readonly EnqueuedJob[]): boolean {
  return first?.outcome === 'duplicate'
}
