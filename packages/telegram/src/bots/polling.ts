/**
 * For machines that nobody can call: asks Telegram for updates and receives them as if they had been posted. Chats go on beside each other, and an update is
 * acknowledged, by asking for what comes after it, only when it and all before it are durable or handled.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { notReceived, type Receive } from '../door/receive.ts'
import type { Log } from '../log.ts'
import { asUpdate, factsOf, orderKeyOf, type RawUpdate } from '../update/update.ts'
import type { Fault } from '../work/fault.ts'
import type { Figures } from '../work/figures.ts'
import type { Bot } from './bot.ts'

export interface PollTools {
  readonly receive: Receive
  readonly figures: Figures
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

export async function poll(bot: Bot, { receive, figures, log, fault, signal }: PollTools): Promise<void> {
  /** Known and not done yet, by their ids. */
  const open = new Set<number>()
  const lanes = new Map<string, Promise<void>>()
  let last = -1
  let pauseMs = FIRST_PAUSE_MS

  /** Until it is received: what comes after it in its chat waits. */
  async function take(update: RawUpdate): Promise<void> {
    const { chatId } = factsOf(update)
    await fault('poll.received', chatId)
    while (!signal.aborted) {
      const { result, retryAfterMs = FIRST_PAUSE_MS } = await receive(bot, update).catch((error: unknown) => {
        log('error', 'an update could not be stored', {
          bot: bot.slug,
          update: update.update_id,
          error: String(error),
        })
        return { retryAfterMs: FIRST_PAUSE_MS, ...notReceived(error) }
      })
      figures.received({ bot: bot.slug, result })
      if (!['busy', 'failed', 'unstored'].includes(result)) {
        await fault('poll.taken', chatId)
        return void open.delete(update.update_id)
      }
      await pause(retryAfterMs, undefined, { signal }).catch(() => {})
    }
  }

  function add(update: RawUpdate): void {
    if (update.update_id <= last || open.has(update.update_id)) return
    open.add(update.update_id)
    const lane = orderKeyOf(bot.id, factsOf(update)) ?? `update ${update.update_id}`
    const next = (lanes.get(lane) ?? Promise.resolve()).then(() => take(update))
    lanes.set(lane, next)
    void next.then(() => lanes.get(lane) === next && lanes.delete(lane))
  }

  while (!signal.aborted) {
    try {
      const offset = open.size > 0 ? Math.min(...open) : last + 1
      // With something open Telegram answers at once, and says it again.
      const timeout = open.size > 0 ? 0 : WAIT_SECONDS
      const updates = await bot.api.getUpdates({ offset, timeout, limit: BATCH }, signal as never)
      for (const given of updates) {
        const update = asUpdate(given)
        if (update !== null) add(update)
      }
      last = Math.max(last, ...updates.map(({ update_id: id }) => id))
      pauseMs = FIRST_PAUSE_MS
      await settled()
    } catch (error) {
      if (signal.aborted) break
      log('warn', 'updates could not be fetched', { bot: bot.slug, error: String(error), againInMs: pauseMs })
      await pause(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  await Promise.all(lanes.values())

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
