/** `sweep`: one pass by hand. */
import { OUTCOMES } from '../inbox/swept.ts'
import { type Command, EXIT } from './command.ts'
import { openInbox } from './open-inbox.ts'

export const sweep: Command = {
  words: 'sweep',
  says: 'one pass of the sweep now, and what it took away',
  async run({ config, out, has }) {
    const { inbox, close } = await openInbox(config())
    try {
      await inbox.start()
      const counts = await inbox.sweep()
      if (has('json')) out(JSON.stringify(counts))
      else for (const outcome of OUTCOMES) out(`${outcome.padEnd(18)} ${counts[outcome]}`)
      return EXIT.done
    } finally {
      await close()
    }
  },
}
