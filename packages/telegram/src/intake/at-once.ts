/**
 * Synchronous bots: the handler runs while Telegram waits for the response. Telegram delivers failed updates
 * again.
 */
import { type Mill, Snooze } from 'jobmill'
import { DEFAULTS } from 'jobmill/internal'
import type { Tables, Transaction } from 'jobmill-tables'
import { type Bot, deadNotice } from '../bots/bot.ts'
import { deletionOf } from '../handlers/auth.ts'
import type { Handled, Reply } from '../handlers/handler.ts'
import type { ClaimedUpdate, UpdateClaims } from '../sessions/update-claims.ts'
import type { Schema } from '../sessions/steps.ts'
import { type UpdateFacts, updateKey } from '../update/update.ts'
import { retryWaitMs } from '../work/backoff.ts'
import type { Fault } from '../work/fault.ts'
import { isHopeless } from '../work/hopeless.ts'
import { sendKind } from '../work/names.ts'
import { REVOKED_MS, type Revoked } from '../work/revoked.ts'
import { optionsOf, sendPayload } from '../work/send-job.ts'
import { type AtOnce, BUSY_MS, type Received } from './receive.ts'
import { runInTime, type RunTools } from './run-in-time.ts'

export interface AtOnceTools extends Omit<RunTools, 'hasDatabase'> {
  readonly mill: Pick<Mill, 'enqueue' | 'wake' | 'holder'> | null
  readonly tables: Tables<Schema>
  readonly claims: UpdateClaims
  /** How often to renew the claim of an update that is being handled. */
  readonly renewMs: number
  readonly revoked: Revoked
  readonly fault: Fault
  readonly random: () => number
}

export function atOnce({
  mill,
  tables,
  claims,
  renewMs,
  revoked,
  fault,
  random,
  handlerMs,
  hurry,
  log,
}: AtOnceTools): AtOnce {
  /** Writes the replies and the handled mark in one transaction: a redelivery finds both or neither. */
  async function finish(bot: Bot, claimed: ClaimedUpdate, { replies, followUps }: Handled): Promise<void> {
    if (mill === null) {
      for (const reply of replies) await sendNow(bot, reply)
      await tables.transaction((db) => mark(db, claimed))
      return
    }
    await tables.transaction(async (db, tx) => {
      await mark(db, claimed)
      for (const [n, reply] of replies.entries()) {
        const payload = sendPayload(bot, reply, `${updateKey(bot.id, claimed.updateId)}/${n}`)
        await mill.enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), tx })
      }
      for (const { kind, payload, options } of followUps)
        await mill.enqueue(kind, payload, { ...options, tx })
    })
    mill.wake()
  }

  async function mark(db: Transaction<Schema>, claimed: ClaimedUpdate): Promise<void> {
    if (!(await claims.handled(db, claimed))) throw new Overtaken()
  }

  /** Without a database, replies are sent before the update counts as handled. */
  async function sendNow(bot: Bot, reply: Reply): Promise<void> {
    const called = await bot.call(reply.method, reply.payload)
    // A failed best-effort reply does not cause a retry.
    if (reply.bestEffort && called.outcome !== 'revoked') return
    if (called.outcome === 'throttled') throw new Snooze(called.retryAfterMs, 'Telegram answered 429')
    if (called.outcome === 'revoked') {
      revoked.refused(bot, called.error)
      throw new Snooze(REVOKED_MS, called.error.message)
    }
    if (called.outcome === 'failed') throw called.error
    revoked.taken(bot)
    if (called.outcome === 'refused')
      log('error', 'Telegram refused a reply', {
        bot: bot.slug,
        method: reply.method,
        error: called.error.message,
      })
  }

  async function dead(
    bot: Bot,
    facts: UpdateFacts,
    claimed: ClaimedUpdate,
    error: string,
  ): Promise<Received> {
    log('error', 'update failed permanently', {
      bot: bot.slug,
      update: facts.updateId,
      attempt: claimed.attempt,
      error,
    })
    const deletion = bot.handler === 'auth' ? deletionOf(facts) : null
    const replies = [...(deletion === null ? [] : [deletion]), ...deadNotice(bot, facts)]
    await fault('sync.dead', facts.chatId)
    await finish(bot, claimed, { replies, followUps: [] })
    return { result: 'dead' }
  }

  async function failed(
    bot: Bot,
    facts: UpdateFacts,
    claimed: ClaimedUpdate,
    error: unknown,
  ): Promise<Received> {
    const text = error instanceof Error ? error.message : String(error)
    const { attempt } = claimed
    const fields = { bot: bot.slug, update: facts.updateId, attempt, error: text }
    const isSnoozed = error instanceof Snooze
    if (isHopeless(error) || (!isSnoozed && attempt >= bot.retry.attempts))
      return dead(bot, facts, claimed, text)
    log('warn', 'update failed, will be retried', fields)
    await fault('sync.failed', facts.chatId)
    await claims.failed(claimed, !isSnoozed)
    return {
      result: 'failed',
      spent: isSnoozed ? attempt - 1 : attempt,
      retryAfterMs: isSnoozed ? error.forMs : retryWaitMs(bot.retry, attempt, random()),
    }
  }

  /**
   * Whether the update became a job while the bot was durable. It is checked after claiming: a process with
   * the old config checks the claim when it runs the job. So at least one of the two sees the other, and only
   * one handles the update.
   */
  async function isDurable(bot: Bot, claimed: ClaimedUpdate): Promise<boolean> {
    if (mill === null) return false
    try {
      if ((await mill.holder(updateKey(bot.id, claimed.updateId))) === null) return false
    } catch (error) {
      await claims.failed(claimed, false).catch(() => {})
      throw error
    }
    await claims.release(claimed)
    return true
  }

  return async (bot, update, facts, instead) => {
    const claim = await claims.claim({ botId: bot.id, updateId: facts.updateId })
    if (claim.outcome === 'duplicate') return { result: 'duplicate' }
    if (claim.outcome === 'running') return { result: 'busy', retryAfterMs: BUSY_MS }
    const { claimed } = claim
    if (await isDurable(bot, claimed)) return { result: 'duplicate' }
    // Without renewals, another process may claim the update when the lease expires.
    const renewing = setInterval(() => void claims.renew(claimed).catch(() => {}), renewMs)
    try {
      await fault('sync.claimed', facts.chatId)
      if (claimed.crashes >= DEFAULTS.crashesUntilDead)
        return await dead(
          bot,
          facts,
          claimed,
          `the process crashed ${claimed.crashes} times while handling this update`,
        )
      const handled =
        instead === null
          ? await runInTime(bot, update, facts, claimed, {
              handlerMs,
              hurry,
              log,
              hasDatabase: mill !== null,
            })
          : { replies: instead, followUps: [] }
      await fault('sync.handled', facts.chatId)
      await finish(bot, claimed, handled)
      await fault('sync.written', facts.chatId)
      return { result: instead === null ? 'handled' : instead.length === 0 ? 'dropped' : 'prompted' }
    } catch (error) {
      if (error instanceof Overtaken) return { result: 'busy', retryAfterMs: BUSY_MS }
      return await failed(bot, facts, claimed, error)
    } finally {
      clearInterval(renewing)
    }
  }
}

/** Another process has claimed the update and handles it. */
class Overtaken extends Error {}
