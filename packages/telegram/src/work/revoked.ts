/** Tracks bots whose token Telegram rejects. Logs each bot once, however many replies are waiting. */
import type { Bot } from '../bots/bot.ts'
import { botVariable } from '../config/secrets.ts'
import type { Log } from '../log.ts'

export interface Revoked {
  /** Telegram just rejected the token. */
  readonly refused: (bot: Pick<Bot, 'slug' | 'id' | 'trouble'>, error: Error) => void
  /** Telegram accepts the token. */
  readonly taken: (bot: Pick<Bot, 'id' | 'trouble'>) => void
}

/**
 * How long the replies of a bot pause after a rejected token. A token rarely recovers without an operator.
 */
export const REVOKED_MS = 5 * 60_000

export function revokedBots(log: Log): Revoked {
  const logged = new Set<number>()
  return {
    refused(bot, error) {
      const { slug, id } = bot
      bot.trouble = 'token'
      if (logged.has(id)) return
      logged.add(id)
      log('warn', 'Telegram rejected the token, replies of this bot are paused until it is accepted', {
        bot: slug,
        fix: `get the token from @BotFather, set ${botVariable(slug, 'TOKEN')} and restart`,
        error: error.message,
      })
    },
    taken(bot) {
      bot.trouble = null
      logged.delete(bot.id)
    },
  }
}
