/** Finds the handler that a bot names in its config. */
import type { AuthConfig, BotConfig } from '../config/config.ts'
import type { Codes } from '../sessions/codes.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Fault } from '../work/fault.ts'
import { auth } from './auth.ts'
import { command } from './command.ts'
import { echo } from './echo.ts'
import type { Handler } from './handler.ts'
import { http } from './http.ts'
import { job } from './job.ts'

export interface HandlerTools {
  readonly auth: AuthConfig | null
  readonly codes: Codes | null
  readonly sessions: Sessions
  readonly fault: Fault
  /** Handlers passed in code. */
  readonly own: Readonly<Record<string, Handler>>
}

export function handlerFor(
  bot: BotConfig,
  { auth: config, codes, sessions, fault, own }: HandlerTools,
): Handler {
  if (bot.handler === 'echo') return echo
  if (bot.http !== null) return http(bot.http)
  if (bot.command !== null) return command(bot.command)
  if (bot.job !== null) return job(bot.job)
  if (bot.handler === 'auth' && config !== null && codes !== null)
    return auth({ auth: config, codes, sessions, fault })
  const given = own[bot.handler]
  if (given !== undefined) return given
  throw new TypeError(`bots.${bot.slug}.handler: unknown handler (got ${bot.handler}). Pass it in handlers`)
}
