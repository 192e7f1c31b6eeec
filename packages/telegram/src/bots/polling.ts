/**
 * For machines that nobody can call: asks Telegram for updates and receives them as if they had been posted. Chats go on beside each other, and an update is
 * acknowledged, by asking for what comes after it, only when it and all before it are durable or handled.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { notReceived, type Receive } from '../intake/receive.ts'
import type { Log } from '../log.ts'
import { asUpdate, factsOf, orderKeyOf, type RawUpdate } from '../update/update.ts'
import type { Fault } from '../work/fault.ts'
import type { Metrics } from '../work/metrics.ts'
import type { Bot } from './bot.ts'
import { retryAfterMs } from './trouble.ts'

export interface PollTools {
  readonly receive: Receive
  readonly metrics: Metrics
  readonly log: Log
  readonly fault: Fault
  readonly signal: AbortSignal
}

/** How long Telegram keeps a question open when there is nothing to tell; shorter than the time that a call may take. */
const WAIT_SECONDS = 15
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** Telegram tells as many at a time, the unacknowledged among them. */
const BATCH = 100

export async function poll(bot: Bot, { receive, metrics, log, fault, signal }: PollTools): Promise<void> {
  /** Known and not done yet, by their ids. */
  const open = new Set<number>()
  /** Done, and told again by Telegram as long as one before them is open. */
  let done = new Set<number>()
  const lanes = new Map<string, Promise<void>>()
  /** Follows Telegram, whose ids begin anywhere after a week of silence. */
  let last = -1
  let pauseMs = FIRST_PAUSE_MS

  /** Until it is received: what comes after it in its chat waits. */
  async function take(update: RawUpdate): Promise<void> {
    const { chatId } = factsOf(update)
    await fault('poll.received', chatId)
    while (!signal.aborted) {
      const { result, retryAfterMs: againMs = FIRST_PAUSE_MS } = await receive(bot, update, {
        isPolled: true,
      }).catch((error: unknown) => {
        log('error', 'an update could not be stored', {
          bot: bot.slug,
          update: update.update_id,
          error: String(error),
        })
        return { retryAfterMs: FIRST_PAUSE_MS, ...notReceived(error) }
      })
      metrics.received({ bot: bot.slug, result })
      if (result === 'duplicate')
        log('info', 'an update came again', { bot: bot.slug, update: update.update_id })
      if (!['busy', 'failed', 'unstored'].includes(result)) {
        await fault('poll.taken', chatId)
        done.add(update.update_id)
        return void open.delete(update.update_id)
      }
      await rest(againMs)
    }
  }

  /** False for one that is known. */
  function add(update: RawUpdate): boolean {
    if (done.has(update.update_id) || open.has(update.update_id)) return false
    open.add(update.update_id)
    const lane = orderKeyOf(bot.id, factsOf(update)) ?? `update ${update.update_id}`
    const next = (lanes.get(lane) ?? Promise.resolve()).then(() => take(update))
    lanes.set(lane, next)
    void next.then(() => lanes.get(lane) === next && lanes.delete(lane))
    return true
  }

  while (!signal.aborted) {
    try {
      const offset = open.size > 0 ? Math.min(...open) : last + 1
      // With something open Telegram answers at once, and says it again.
      const timeout = open.size > 0 ? 0 : WAIT_SECONDS
      const askedAt = performance.now()
      const updates = await bot.api.getUpdates({ offset, timeout, limit: BATCH }, signal as never)
      const ids = updates.map(({ update_id: id }) => id)
      // What is not told again was acknowledged.
      done = new Set(ids.filter((id) => done.has(id)))
      let news = 0
      for (const given of updates) {
        const update = asUpdate(given)
        if (update !== null && add(update)) news += 1
      }
      if (ids.length > 0) last = Math.max(...ids)
      pauseMs = FIRST_PAUSE_MS
      await settled()
      // However fast somebody says nothing new.
      if (news === 0) await rest(FIRST_PAUSE_MS - (performance.now() - askedAt))
    } catch (error) {
      if (signal.aborted) break
      const waitMs = Math.max(pauseMs, retryAfterMs(error) ?? 0)
      log('warn', 'updates could not be fetched', { bot: bot.slug, error: String(error), againInMs: waitMs })
      await rest(waitMs)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  await Promise.all(lanes.values())

  async function rest(ms: number): Promise<void> {
    if (ms > 0) await pause(ms, undefined, { signal }).catch(() => {})
  }

  /** Until nothing is open, or for a moment: somebody else may have written meanwhile. */
  async function settled(): Promise<void> {
    if (open.size === 0) return
    const moment = new AbortController()
    const some = AbortSignal.any([signal, moment.signal])
    await Promise.race([
      Promise.all(lanes.values()),
      pause(FIRST_PAUSE_MS, undefined, { signal: some }).catch(() => {}),
    ])
    moment.abort()
  }
}
