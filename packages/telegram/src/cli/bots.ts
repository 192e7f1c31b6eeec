/** Lists the bots and the state of their webhooks. */
import { EXIT, oneLine } from 'jobmill/cli'
import { botOf } from '../bots/bot.ts'
import { troubleWith } from '../bots/trouble.ts'
import { webhookState } from '../bots/webhooks.ts'
import type { BotConfig } from '../config/config.ts'
import { type Command, withConfig } from './command.ts'

export const bots: Command = {
  words: 'bots',
  says: 'list the bots and the state of their webhooks',
  run: withConfig(async ({ config }, _given, io) => {
    let code: number = EXIT.done
    for (const one of config.bots) {
      const { line, code: own } = await askFor(one, config.apiRoot)
      io.out(
        `${one.slug.padEnd(16)} ${one.handler}${one.async ? ', async' : ''}${one.requireAuth ? ', login required' : ''}\n  ${oneLine(line)}`,
      )
      // A rejected token needs a person to fix it, so it outranks an unreachable Telegram.
      if (code === EXIT.done || own === EXIT.refused) code = own === EXIT.done ? code : own
    }
    return code
  }),
}

async function askFor(config: BotConfig, apiRoot: string) {
  const bot = botOf(config, () => {}, apiRoot)
  try {
    const [{ username }, state] = await Promise.all([bot.api.getMe(), webhookState(bot)])
    const error =
      state.lastError === null
        ? ''
        : `, last error ${new Date(state.lastErrorAt ?? 0).toISOString()}: ${state.lastError}`
    const where = state.url === '' ? 'no webhook' : state.url
    return { line: `@${username}, ${where}, ${state.pending} pending${error}`, code: EXIT.done }
  } catch (error) {
    const { what, isRefused } = troubleWith(bot, error)
    const why = error instanceof Error ? error.message : String(error)
    return { line: `${what} (${why})`, code: isRefused ? EXIT.refused : EXIT.unavailable }
  } finally {
    bot.close()
  }
}
