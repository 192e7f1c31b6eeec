/**
 * Decides what happens to an update, from a webhook or a poll: checks the sender, then enqueues a job or runs
 * the handler.
 */
import type { EnqueueOptions, Mill } from 'jobmill'
import { isEnded } from 'jobmill/internal'
import { type Bot, deadNotice, isListed, promptOf } from '../bots/bot.ts'
import { messages, type Reply } from '../handlers/handler.ts'
import type { Log } from '../log.ts'
import type { UpdateClaims } from '../sessions/update-claims.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { keptText } from '../update/exact-text.ts'
import { factsOf, orderKeyOf, type RawUpdate, type UpdateFacts } from '../update/update.ts'
import type { Result } from '../work/metrics.ts'
import { isHopeless } from '../work/hopeless.ts'
import { updateKind, updateQueue } from '../work/names.ts'
import type { UpdatePayload } from '../work/update-job.ts'
import { onceOf, outcomeOf, type Say } from './say.ts'

export interface Received {
  readonly result: Result
  /** After how long Telegram should deliver the update again. */
  readonly retryAfterMs?: number
  /** For a failed update: the number of spent attempts. */
  readonly spent?: number
}

interface ReceiveOptions {
  /**
   * Telegram redelivers a polled update until it is acknowledged, which blocks later updates. So a polled
   * update that fails becomes a job, and is acknowledged.
   */
  readonly isPolled?: boolean
}

export type Receive = (bot: Bot, update: RawUpdate, options?: ReceiveOptions) => Promise<Received>

export interface ReceiveTools {
  readonly bots: readonly Bot[]
  /** Null without a database. */
  readonly mill: Pick<Mill, 'enqueue' | 'holder' | 'list'> | null
  readonly say: Say
  readonly sessions: Sessions
  readonly claims: UpdateClaims
  readonly dedupeMs: number
  /** Runs the handler while Telegram waits, or only sends a login prompt. */
  readonly atOnce: AtOnce
  readonly log: Log
}

export type AtOnce = (
  bot: Bot,
  update: RawUpdate,
  facts: UpdateFacts,
  instead: readonly Reply[] | null,
) => Promise<Received>

/** How long to wait for the process that handles the update now: it finishes soon, or its lease expires. */
export const BUSY_MS = 5_000

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
export function receiver({
  bots,
  mill,
  say,
  sessions,
  claims,
  dedupeMs,
  atOnce,
  log,
}: ReceiveTools): Receive {
  const once = (bot: Bot, facts: UpdateFacts) => onceOf(bot, facts, dedupeMs)

  /** Explains to a user without a session how to log in, in reply to a message. */
  async function prompt(bot: Bot, facts: UpdateFacts): Promise<Received> {
    const outcome = await say(bot, facts, promptsFor(bot, facts), 'prompt')
    return { result: outcome === 'new' ? 'prompted' : outcome === 'nothing' ? 'dropped' : outcome }
  }

  function promptsFor(bot: Bot, { chatId, isTalk }: UpdateFacts): readonly Reply[] {
    return chatId === null || !isTalk ? [] : messages(chatId, promptOf(bot, bots))
  }

  async function store(
    bot: Bot,
    update: RawUpdate,
    facts: UpdateFacts,
    { waitMs, ...more }: EnqueueOptions & Pick<UpdatePayload, 'waitMs'> = {},
  ): Promise<Received> {
    if (mill === null) throw new Error(`${bot.slug} is async, but there is no database`)
    const { slug, id: botId, handler, retry } = bot
    const text = keptText(update)
    const payload: UpdatePayload = {
      botId,
      slug,
      handler,
      update,
      ...(text === undefined ? {} : { text }),
      ...(waitMs === undefined ? {} : { waitMs }),
    }
    try {
      const outcome = outcomeOf(
        await mill.enqueue(updateKind(bot), payload, {
          queue: updateQueue(bot),
          maxAttempts: retry.attempts,
          dedupe: once(bot, facts),
          ...(bot.ordered ? lineOf(bot, facts) : {}),
          ...more,
        }),
      )
      return { result: outcome === 'new' ? 'queued' : outcome }
    } catch (error) {
      if (!isHopeless(error)) throw error
      log('error', 'update failed permanently, because the database cannot store it', {
        bot: slug,
        update: facts.updateId,
        error: String(error),
      })
      const outcome = await say(bot, facts, deadNotice(bot, facts), 'dead')
      return { result: outcome === 'duplicate' ? 'duplicate' : 'dead' }
    }
  }

  /**
   * While jobs of its chat are open, an update of a synchronous bot becomes a job too, so that it keeps its
   * order. Such jobs exist if the bot was durable before, or is polled. A polled update that fails now also
   * becomes a job.
   */
  async function inLine(
    bot: Bot,
    update: RawUpdate,
    facts: UpdateFacts,
    isPolled: boolean,
  ): Promise<Received> {
    const behind = lineOf(bot, facts)
    const [before] = behind.tags === undefined ? [] : await newest(behind.tags)
    // The notice of a dead job may still be waiting, and comes first in the order queue.
    if (before !== undefined && (before.state === 'dead' || !isEnded(before.state)))
      return (await known(bot, facts)) ?? store(bot, update, facts, behind)
    const received = await atOnce(bot, update, facts, null)
    if (received.result !== 'failed' || !isPolled) return received
    const { retryAfterMs: waitMs = 0, spent = 0 } = received
    const maxAttempts = Math.max(1, bot.retry.attempts - spent)
    return store(bot, update, facts, { ...behind, waitMs, maxAttempts })
  }

  async function newest(tags: readonly string[]) {
    return (await mill?.list({ tags }, { limit: 1 }))?.jobs ?? []
  }

  /**
   * Whether the update is a redelivery. Checks both records, because a bot may have switched between
   * synchronous and durable.
   */
  async function known(bot: Bot, facts: UpdateFacts): Promise<Received | null> {
    const [state, holder] = await Promise.all([
      claims.stateOf({ botId: bot.id, updateId: facts.updateId }),
      mill === null ? null : mill.holder(once(bot, facts).key),
    ])
    if (state === 'handled' || holder !== null) return { result: 'duplicate' }
    return state === 'running' ? { result: 'busy', retryAfterMs: BUSY_MS } : null
  }

  const synchronous = new Map<number, Promise<boolean>>()

  /**
   * Checked once, because a bot switches only at a restart. The job itself detects an update that a process
   * with the old config handled.
   */
  function wasSynchronous({ id }: Bot): Promise<boolean> {
    const asked = synchronous.get(id) ?? claims.hasAny(id)
    synchronous.set(id, asked)
    asked.catch(() => synchronous.delete(id))
    return asked
  }

  return async (bot, update, { isPolled = false } = {}) => {
    const facts = factsOf(update)
    const isOnList = isListed(bot, facts.userId)
    // Redeliveries are detected before refusals. The paths below detect them in the statement that writes; an
    // extra query for every update would be too expensive.
    const before = !isOnList || (bot.async && (await wasSynchronous(bot))) ? await known(bot, facts) : null
    if (before !== null) return before
    // Nothing is stored for refused users, so that they cannot fill the database. A redelivery is dropped
    // again.
    if (!isOnList) return { result: 'dropped' }
    const isLoggedOut =
      bot.requireAuth && !(facts.userId !== null && (await sessions.isOpen(facts.userId, bot.slug)))
    // Updates with login codes are never stored: they stay with Telegram.
    const mayBeJob = mill !== null && !isLoggedOut && bot.handler !== 'auth'
    if (!bot.async && mayBeJob) return inLine(bot, update, facts, isPolled)
    if (!bot.async) return atOnce(bot, update, facts, isLoggedOut ? promptsFor(bot, facts) : null)
    return isLoggedOut ? prompt(bot, facts) : store(bot, update, facts)
  }
}

/** The tag is for finding the jobs of the same order queue. */
function lineOf(bot: Bot, facts: UpdateFacts): Pick<EnqueueOptions, 'orderKey' | 'tags'> {
  const orderKey = orderKeyOf(bot.id, facts)
  return orderKey === null ? {} : { orderKey, tags: [`telegram chat ${orderKey}`] }
}
