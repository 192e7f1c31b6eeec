/** Bots whose token Telegram does not take any more: told once, however many replies wait for another one. */
import type { Bot } from '../bots/bot.ts'
import { botVariable } from '../config/secrets.ts'
import type { Log } from '../log.ts'

export interface Revoked {
  /** It was refused just now. */
  readonly refused: (bot: Pick<Bot, 'slug' | 'id' | 'trouble'>, error: Error) => void
  /** Telegram does what it is asked. */
  readonly taken: (bot: Pick<Bot, 'id' | 'trouble'>) => void
}

/** A token does not come back by itself: how long a bot asks for nothing, and its replies wait. */
export const REVOKED_MS = 5 * 60_000

export function revokedBots(log: Log): Revoked {
  const told = new Set<number>()
  return {
    refused(bot, error) {
      const { slug, id } = bot
      bot.trouble = 'token'
      if (told.has(id)) return
      told.add(id)
      log('warn', 'Telegram refuses the token, and the replies of this bot are kept until it takes it', {
        bot: slug,
        fix: `ask @BotFather for its token, set ${botVariable(slug, 'TOKEN')} and restart`,
        error: error.message,
      })
    },
    taken(bot) {
      bot.trouble = null
      told.delete(bot.id)
    },
  }
}
