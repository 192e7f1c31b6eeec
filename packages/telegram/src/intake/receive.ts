/** What becomes of an update, however it came: who sent it, whether they may, and then a job, or the handler at once. */
import { type EnqueueOptions, isEnded, type Mill } from 'jobmill'
import { type Bot, deadNotice, isListed, promptOf } from '../bots/bot.ts'
import { messages, type Reply } from '../handlers/handler.ts'
import type { Log } from '../log.ts'
import type { Seen } from '../sessions/seen.ts'
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
  /** Of what Telegram should send again: when. */
  readonly retryAfterMs?: number
  /** Of one that failed: the tries that it has behind it. */
  readonly spent?: number
}

interface ReceiveOptions {
  /** Nobody sends it again by itself: what fails now becomes a job where there is a database, so that it can be acknowledged and others go on. */
  readonly isPolled?: boolean
}

export type Receive = (bot: Bot, update: RawUpdate, options?: ReceiveOptions) => Promise<Received>

export interface ReceiveTools {
  readonly bots: readonly Bot[]
  /** Null without a database. */
  readonly mill: Pick<Mill, 'enqueue' | 'holder' | 'list'> | null
  readonly say: Say
  readonly sessions: Sessions
  readonly seen: Seen
  readonly dedupeMs: number
  /** Runs the handler while Telegram waits; or only says this to somebody without a session. */
  readonly atOnce: AtOnce
  readonly log: Log
}

export type AtOnce = (
  bot: Bot,
  update: RawUpdate,
  facts: UpdateFacts,
  instead: readonly Reply[] | null,
) => Promise<Received>

/** Who has an update at the moment ends soon, or its lease does. */
export const BUSY_MS = 5_000

/** What no database can keep, such as NUL, is not asked for again: that would hold up its chat for a day. Everything else is. */
export function notReceived(error: unknown): Received {
  return { result: isHopeless(error) ? 'dead' : 'unstored' }
}

/** Rejects when it could not be stored, or not be known who may speak: then Telegram must send it again. */
export function receiver({ bots, mill, say, sessions, seen, dedupeMs, atOnce, log }: ReceiveTools): Receive {
  const once = (bot: Bot, facts: UpdateFacts) => onceOf(bot, facts, dedupeMs)

  /** Who has no session is told how to get one, when they said something. */
  async function prompt(bot: Bot, facts: UpdateFacts): Promise<Received> {
    const told = await say(bot, facts, promptsFor(bot, facts), 'prompt')
    return { result: told === 'new' ? 'prompted' : told === 'nothing' ? 'dropped' : told }
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
    if (mill === null) throw new Error(`${bot.slug} is async, and there is no database`)
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
      log('error', 'an update is dead, since no database can keep it', {
        bot: slug,
        update: facts.updateId,
        error: String(error),
      })
      const told = await say(bot, facts, deadNotice(bot, facts), 'dead')
      return { result: told === 'duplicate' ? 'duplicate' : 'dead' }
    }
  }

  /**
   * While jobs of its chat wait, an update of a synchronous bot is one too, so that it does not overtake them: the bot was durable before, or it is polled. What
   * is polled and cannot be done now becomes a job by itself.
   */
  async function inLine(
    bot: Bot,
    update: RawUpdate,
    facts: UpdateFacts,
    isPolled: boolean,
  ): Promise<Received> {
    const behind = lineOf(bot, facts)
    const [before] = behind.tags === undefined ? [] : await newest(behind.tags)
    // Of one that is dead the user may not have been told yet: that comes first in the line.
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

  /** Whether it came before. Both kinds of memory are asked: a bot may have been synchronous before it was durable, and the other way round. */
  async function known(bot: Bot, facts: UpdateFacts): Promise<Received | null> {
    const [standing, holder] = await Promise.all([
      seen.stateOf({ botId: bot.id, updateId: facts.updateId }),
      mill === null ? null : mill.holder(once(bot, facts).key),
    ])
    if (standing === 'handled' || holder !== null) return { result: 'duplicate' }
    return standing === 'running' ? { result: 'busy', retryAfterMs: BUSY_MS } : null
  }

  const synchronous = new Map<number, Promise<boolean>>()

  /**
   * Asked once, since a bot is switched by a restart. What processes with the config from before do meanwhile is found by the job, when it runs.
   */
  function wasSynchronous({ id }: Bot): Promise<boolean> {
    const asked = synchronous.get(id) ?? seen.hasAny(id)
    synchronous.set(id, asked)
    asked.catch(() => synchronous.delete(id))
    return asked
  }

  return async (bot, update, { isPolled = false } = {}) => {
    const facts = factsOf(update)
    const isOnList = isListed(bot, facts.userId)
    // Repeats come before refusals. What is written further down looks for them in the statement that decides: to ask beforehand would cost every update.
    const before = !isOnList || (bot.async && (await wasSynchronous(bot))) ? await known(bot, facts) : null
    if (before !== null) return before
    // Nothing is written of it, so that strangers cannot fill the database: a repeat is dropped again, which costs and tells as little.
    if (!isOnList) return { result: 'dropped' }
    const isStranger =
      bot.requireAuth && !(facts.userId !== null && (await sessions.isOpen(facts.userId, bot.slug)))
    // Of a code nothing is written: it waits where Telegram keeps it.
    const mayBeJob = mill !== null && !isStranger && bot.handler !== 'auth'
    if (!bot.async && mayBeJob) return inLine(bot, update, facts, isPolled)
    if (!bot.async) return atOnce(bot, update, facts, isStranger ? promptsFor(bot, facts) : null)
    return isStranger ? prompt(bot, facts) : store(bot, update, facts)
  }
}

/** The tag is what jobs of the same line are found by. */
function lineOf(bot: Bot, facts: UpdateFacts): Pick<EnqueueOptions, 'orderKey' | 'tags'> {
  const orderKey = orderKeyOf(bot.id, facts)
  return orderKey === null ? {} : { orderKey, tags: [`telegram chat ${orderKey}`] }
}
