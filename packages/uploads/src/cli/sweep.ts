/** `sweep`: runs one pass by hand. */
import { EXIT } from 'jobmill/cli'
import { OUTCOMES } from '../inbox/sweep/sweep-counter.ts'
import type { Command } from './command.ts'
import { withInbox } from './with-inbox.ts'

export const sweep: Command = {
  words: 'sweep',
  says: 'run one sweep pass now and show what it deleted',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const { out, has } = given
      const counts = await inbox.sweep()
      if (has('json')) out(JSON.stringify(counts))
      else for (const outcome of OUTCOMES) out(`${outcome.padEnd(18)} ${counts[outcome]}`)
      return EXIT.done
    }),
}
