/** `jobmill top`: a live overview on a terminal; elsewhere, it is printed once. */
import { timeoutMs } from '../../job/duration.ts'
import { type Command, EXIT } from '../program/command.ts'
import { runLive } from '../top/live.ts'
import { overviewFrame } from '../top/overview-frame.ts'
import { lineText } from '../top/pieces.ts'
import { overview } from '../top/read.ts'
import { lengthOf } from '../program/typed-values.ts'
import { withMill } from '../with-mill.ts'

/** The size when the output is not a terminal. */
const WIDE = { columns: 160, rows: 1_000 }

export const top: Command = {
  words: 'top',
  says: 'show a live view of queues, instances and dead jobs; without a terminal, print it once',
  options: { every: { takes: 'DURATION', says: 'refresh interval (default 1s)' } },
  examples: ['jobmill top', 'jobmill top --every 5s', `jobmill top --json | jq '.queues[].counts.ready'`],
  run: async (parsed, terminal) => {
    const everyMs = timeoutMs(lengthOf(parsed, 'every') ?? '1s', '--every')
    return withMill(parsed, async (mill, { store: { name: store } }) => {
      if (terminal.isInteractive && !parsed.has('json')) {
        await runLive(mill, { store, everyMs }, terminal)
        return EXIT.done
      }
      const { kind: _, ...view } = await overview(mill, store)
      if (parsed.has('json')) terminal.out(JSON.stringify(view))
      else
        for (const line of overviewFrame({ kind: 'queues', ...view }, null, WIDE))
          terminal.out(lineText(line, WIDE.columns, terminal).trimEnd())
      return EXIT.done
    })
  },
}
