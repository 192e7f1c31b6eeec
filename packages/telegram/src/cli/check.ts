/** Reads the config and says what is wrong with it; starts nothing. */
import { EXIT } from 'jobmill/cli'
import type { Command } from './command.ts'
import { configured } from './config.ts'

export const check: Command = {
  words: 'check',
  says: 'read the config and say all that is wrong with it; starts nothing',
  async run(given, io) {
    const found = configured(given, io)
    if (found === null) return EXIT.usage
    const { bots } = found.config
    const names = bots.map(({ slug, handler, async }) => `${slug} (${handler}${async ? ', async' : ''})`)
    io.out(`ok: ${names.length} ${names.length === 1 ? 'bot' : 'bots'}: ${names.join(', ')}`)
    return EXIT.done
  },
}
