/**
 * For machines that nobody can call: asks Telegram for updates and receives them as if they had been posted. An update is acknowledged, by asking for the next
 * one, only when it is durable or handled.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Update } from 'grammy/types'
import type { Receive, Received } from '../door/receive.ts'
import { asUpdate } from '../update/update.ts'
import type { Figures } from '../work/figures.ts'
import type { Log } from '../log.ts'
import type { Bot } from './bot.ts'

export interface PollTools {
  readonly receive: Receive
  readonly figures: Figures
  readonly log: Log
  readonly signal: AbortSignal
}

/** How long Telegram keeps a question open when there is nothing to tell; shorter than the time that a call may take. */
const WAIT_SECONDS = 15
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

export async function poll(bot: Bot, { receive, figures, log, signal }: PollTools): Promise<void> {
  let offset = 0
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      const updates = await bot.api.getUpdates({ offset, timeout: WAIT_SECONDS, limit: 100 }, signal as never)
      for (const update of updates) {
        await take(update)
        offset = update.update_id + 1
      }
      pauseMs = FIRST_PAUSE_MS
    } catch (error) {
      if (signal.aborted) return
      log('warn', 'updates could not be fetched', { bot: bot.slug, error: String(error), againInMs: pauseMs })
      await pause(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }

  /** Until it is received: what comes after it may belong to the same chat. */
  async function take(given: Update): Promise<void> {
    const update = asUpdate(given)
    if (update === null) return
    for (;;) {
      const { result, retryAfterMs = FIRST_PAUSE_MS } = await receive(bot, update).catch((): Received => ({
        result: 'unstored',
      }))
      figures.received({ bot: bot.slug, result })
      if (!['busy', 'failed', 'unstored'].includes(result)) return
      await pause(retryAfterMs, undefined, { signal })
    }
  }
}
