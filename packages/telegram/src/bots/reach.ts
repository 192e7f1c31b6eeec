/**
 * First contact with Telegram: reads the bot's username and sets up its webhook. An unreachable Telegram does
 * not prevent the start.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Inside } from '../inside.ts'
import type { Receive } from '../intake/receive.ts'
import { retryAfterMs } from '../work/call.ts'
import type { Bot } from './bot.ts'
import { poll } from './polling.ts'
import { reasonOf, troubleWith } from './trouble.ts'
import { pointWebhook, WEBHOOK_PATH } from './webhooks.ts'

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Resolves when the bot is set up or the signal fires. For a polling bot, only when the signal fires. */
export async function reach(bot: Bot, inside: Inside, receive: Receive): Promise<void> {
  const { tables, log, stopping: signal } = inside
  const { mode, publicUrl } = inside.config
  let pauseMs = FIRST_PAUSE_MS
  let lastLogged = ''
  while (!signal.aborted) {
    try {
      bot.username = (await bot.api.getMe()).username
      if (mode === 'polling') await bot.api.deleteWebhook()
      else if (publicUrl !== null) {
        const done = await pointWebhook(bot, `${publicUrl}${WEBHOOK_PATH}${bot.slug}`, tables)
        if (done === 'set') log('info', 'webhook registered with Telegram', { bot: bot.slug })
      }
      bot.trouble = null
      break
    } catch (error) {
      const waitMs = Math.max(pauseMs, retryAfterMs(error) ?? 0)
      const { what, isRefused } = troubleWith(bot, error)
      bot.trouble = isRefused ? 'token' : 'unreached'
      // Log a problem once, not at every retry. The recovery is logged too.
      if (what !== lastLogged)
        log('error', what, { bot: bot.slug, error: reasonOf(error), againInMs: waitMs })
      lastLogged = what
      await pause(waitMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  if (lastLogged !== '' && !signal.aborted)
    log('info', 'bot is connected to Telegram again', { bot: bot.slug })
  if (mode === 'polling') await poll(bot, inside, receive)
}
