/** The bots, and how Telegram fares with sending them updates. */
import { botOf } from '../bots/bot.ts'
import { webhookState } from '../bots/webhooks.ts'
import { configFor, flags } from './config.ts'

export async function bots(args: readonly string[]): Promise<number> {
  const { values } = flags(args, {})
  const config = configFor(values.config)
  if (config === null) return 2
  let isWell = true
  for (const one of config.bots) {
    const bot = botOf(one, () => {}, config.apiRoot)
    const what = `${one.slug.padEnd(16)} ${one.handler}${one.async ? ', durable' : ''}${one.requireAuth ? ', for who logged in' : ''}`
    try {
      const [{ username }, state] = await Promise.all([bot.api.getMe(), webhookState(bot)])
      const error =
        state.lastError === null
          ? ''
          : `, last error ${new Date(state.lastErrorAt ?? 0).toISOString()}: ${state.lastError}`
      console.log(
        `${what}\n  @${username}, ${state.url === '' ? 'no webhook' : state.url}, ${state.pending} pending${error}`,
      )
    } catch (error) {
      isWell = false
      console.log(
        `${what}\n  Telegram was not reached: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  return isWell ? 0 : 1
}
