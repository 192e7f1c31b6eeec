/** First contact with Telegram: who the bot is, and how its updates come. A Telegram that is away keeps nothing from starting. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Tables } from 'jobmill-tables'
import type { Log } from '../log.ts'
import type { Schema } from '../sessions/steps.ts'
import type { Bot } from './bot.ts'
import { poll, type PollTools } from './polling.ts'
import { reasonOf, retryAfterMs, troubleWith } from './trouble.ts'
import { pointWebhook, WEBHOOK_PATH } from './webhooks.ts'

export interface ReachTools extends PollTools {
  readonly tables: Tables<Schema>
  readonly log: Log
  readonly mode: 'webhook' | 'polling'
  /** Null: Telegram was told by somebody else. */
  readonly publicUrl: string | null
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Ends when the bot is set up, or with the signal; a bot that polls, with the signal alone. */
export async function reach(bot: Bot, tools: ReachTools): Promise<void> {
  const { tables, log, mode, publicUrl, signal } = tools
  let pauseMs = FIRST_PAUSE_MS
  let told = ''
  while (!signal.aborted) {
    try {
      bot.username = (await bot.api.getMe()).username
      if (mode === 'polling') await bot.api.deleteWebhook()
      else if (publicUrl !== null) {
        const done = await pointWebhook(bot, `${publicUrl}${WEBHOOK_PATH}${bot.slug}`, tables)
        if (done === 'set') log('info', 'Telegram was told where updates go', { bot: bot.slug })
      }
      bot.trouble = null
      break
    } catch (error) {
      const waitMs = Math.max(pauseMs, retryAfterMs(error) ?? 0)
      const { what, isRefused } = troubleWith(bot, error)
      bot.trouble = isRefused ? 'token' : 'unreached'
      // Once: it is tried until it works, and that is told too.
      if (what !== told) log('error', what, { bot: bot.slug, error: reasonOf(error), againInMs: waitMs })
      told = what
      await pause(waitMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  if (told !== '' && !signal.aborted) log('info', 'Telegram answers', { bot: bot.slug })
  if (mode === 'polling') await poll(bot, tools)
}
