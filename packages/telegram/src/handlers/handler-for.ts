/** Finds the handler that a bot names in its config. */
import type { BotConfig } from '../config/config.ts'
import type { Base } from '../inside.ts'
import { auth } from './auth.ts'
import { command } from './command.ts'
import type { Handler } from './handler.ts'
import { http } from './http.ts'
import { job } from './job.ts'

/** `own`: handlers passed in code. */
export function handlerFor(
  bot: BotConfig,
  { config, codes, sessions, fault }: Base,
  own: Readonly<Record<string, Handler>>,
): Handler {
  if (bot.handler === 'echo') return ({ text, reply }) => reply(text)
  if (bot.http !== null) return http(bot.http)
  if (bot.command !== null) return command(bot.command)
  if (bot.job !== null) return job(bot.job)
  if (bot.handler === 'auth' && config.auth !== null && codes !== null)
    return auth({ ttlMs: config.auth.ttlMs, codes, sessions, fault })
  const given = own[bot.handler]
  if (given !== undefined) return given
  throw new TypeError(`bots.${bot.slug}.handler: unknown handler (got ${bot.handler}). Pass it in handlers`)
}
