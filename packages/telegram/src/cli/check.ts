/** Reads the config and says what is wrong with it; starts nothing. */
import { configFor, flags } from './config.ts'

export async function check(args: readonly string[]): Promise<number> {
  const { values } = flags(args, {})
  const config = configFor(values.config)
  if (config === null) return 2
  const names = config.bots.map(({ slug, handler, async }) => `${slug} (${handler}${async ? ', async' : ''})`)
  console.log(`ok: ${names.length} ${names.length === 1 ? 'bot' : 'bots'}: ${names.join(', ')}`)
  return 0
}
