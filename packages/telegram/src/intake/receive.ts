/**
 * Decides what happens to an update, from a webhook or a poll: checks the sender, enqueues a job, and waits
 * for it if the bot is synchronous.
 */
import type { EnqueuedJob, EnqueueOptions, JobHandle, Mill } from 'jobmill'
import { type Bot, deadNotice, isListed, promptOf } from '../bots/bot.ts'
import { deletionOf } from '../handlers/auth.ts'
import { messages } from '../handlers/handler.ts'
import type { Log } from '../log.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { keptText } from '../update/exact-text.ts'
import { factsOf, orderKeyOf, type RawUpdate, type UpdateFacts } from '../update/update.ts'
import type { Result } from '../work/metrics.ts'
import { isHopeless } from '../work/hopeless.ts'
import { updateKind, updateQueue } from '../work/names.ts'
import { replyKey } from '../work/send-job.ts'
import type { UpdatePayload } from '../work/update-job.ts'
import { onceOf, type Say } from './say.ts'
import type { Ending, UntilEnded } from './until-ended.ts'

export interface Received {
  readonly result: Result
  /** After how long Telegram should deliver the update again. */
  readonly retryAfterMs?: number
}

interface ReceiveOptions {
  /** Telegram waits for no response to a polled update. */
  readonly isPolled?: boolean
}

export type Receive = (bot: Bot, update: RawUpdate, options?: ReceiveOptions) => Promise<Received>

export interface ReceiveTools {
  readonly bots: readonly Bot[]
  readonly mill: Pick<Mill, 'enqueue' | 'holder' | 'job'>
  /** False without a database: an update stays with Telegram until it is answered. */
  readonly isDurable: boolean
  readonly say: Say
  readonly sessions: Sessions
  readonly dedupeMs: number
  readonly untilEnded: UntilEnded
  /** Replaces login codes by their hashes, in updates of the login bot. */
  readonly conceal: (bot: Bot, facts: UpdateFacts) => UpdateFacts
  readonly log: Log
}

/**
 * Updates that no database can store, such as a text with NUL, are dropped: a retry would block their chat
 * for a day. All others are retried.
 */
export function notReceived(error: unknown): Received {
  return { result: isHopeless(error) ? 'dead' : 'unstored' }
}

/**
 * Rejects if the update could not be stored or the sender not checked. Telegram must then deliver it again.
 */
export function receiver(tools: ReceiveTools): Receive {
  const { bots, mill, isDurable, say, sessions, dedupeMs, untilEnded, conceal, log } = tools
  const once = (bot: Bot, facts: UpdateFacts) => onceOf(bot, facts, dedupeMs)

  /** Explains to a user without a session how to log in, in reply to a message. */
  async function prompt(bot: Bot, facts: UpdateFacts): Promise<Received> {
    const { chatId, isTalk } = facts
    const replies = chatId === null || !isTalk ? [] : messages(chatId, promptOf(bot, bots))
    const jobs = await say(bot, facts, replies, 'prompt')
    if (jobs.length === 0) return { result: 'dropped' }
    const unsent = isDurable ? null : await firstOpen(jobs)
    return unsent ?? { result: isRepeat(jobs) ? 'duplicate' : 'prompted' }
  }

  async function store(
    bot: Bot,
    update: RawUpdate,
    facts: UpdateFacts,
    { isPolled = false }: ReceiveOptions,
  ): Promise<Received> {
    let job: EnqueuedJob
    try {
      job = await mill.enqueue(updateKind(bot), payloadOf(bot, update, facts), {
        queue: updateQueue(bot),
        maxAttempts: bot.retry.attempts,
        dedupe: once(bot, facts),
        ...(bot.ordered || !bot.async ? orderOf(bot, facts) : {}),
      })
    } catch (error) {
      if (!isHopeless(error)) throw error
      log('error', 'update failed permanently, because the database cannot store it', {
        bot: bot.slug,
        update: facts.updateId,
        error: String(error),
      })
      const deletion = deletionOf(bot, facts)
      const replies = [...deadNotice(bot, facts), ...(deletion === null ? [] : [deletion])]
      return { result: isRepeat(await say(bot, facts, replies, 'dead')) ? 'duplicate' : 'dead' }
    }
    const known = isRepeat([job]) ? 'duplicate' : 'queued'
    if (isDurable && (bot.async || isPolled || known === 'duplicate')) return { result: known }
    const ending = await untilEnded(job)
    if (ending.state === 'open') return isDurable ? { result: known } : busy(ending)
    // Without a database, replies are lost with the process. So the update stays with Telegram until then.
    const unsent = isDurable || ending.state !== 'done' ? null : await firstOpen(await repliesTo(job.id))
    return unsent ?? { result: known === 'duplicate' ? known : ENDED[ending.state] }
  }

  function payloadOf(bot: Bot, update: RawUpdate, facts: UpdateFacts): UpdatePayload {
    const { slug, id: botId, handler } = bot
    // Login codes must not be readable in the database.
    if (handler === 'auth')
      return { botId, slug, handler, update: { update_id: facts.updateId }, facts: conceal(bot, facts) }
    const text = keptText(update)
    return { botId, slug, handler, update, ...(text === undefined ? {} : { text }) }
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

  return async (bot, update, options = {}) => {
    const facts = factsOf(update)
    // Nothing is stored for refused users, so that they cannot fill the database. Redeliveries are detected
    // before refusals.
    if (!isListed(bot, facts.userId))
      return { result: (await mill.holder(once(bot, facts).key)) === null ? 'dropped' : 'duplicate' }
    // The update of a user without a session is not stored: it may contain a code.
    if (bot.requireAuth && !(facts.userId !== null && (await sessions.isOpen(facts.userId, bot.slug))))
      return prompt(bot, facts)
    try {
      return await store(bot, update, facts, options)
    } catch (error) {
      // The job of an update deletes its code. Without a job, it is deleted now, and after every redelivery.
      const deletion = deletionOf(bot, facts)
      if (deletion !== null) await bot.call(deletion.method, deletion.payload)
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

function orderOf(bot: Bot, facts: UpdateFacts): Pick<EnqueueOptions, 'orderKey'> {
  const orderKey = orderKeyOf(bot.id, facts)
  return orderKey === null ? {} : { orderKey }
}
