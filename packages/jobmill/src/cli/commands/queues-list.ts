/** `jobmill queues list`: every queue with its settings and how it stands. */
import { type Command, EXIT } from '../command.ts'
import { QUEUE_HEADS, queueRow, queueViews, unservedText } from '../queues/view.ts'
import { table } from '../table.ts'
import { withMill } from '../with-mill.ts'

export const queuesList: Command = {
  words: 'queues list',
  says: 'list queues: settings, how many jobs of each state, and what keeps them back',
  examples: ['jobmill queues list', `jobmill queues list --json | jq '.queues[] | select(.paused).name'`],
  run: (given, terminal) =>
    withMill(given, async (mill) => {
      const queues = await queueViews(mill)
      if (given.has('json')) terminal.out(JSON.stringify({ queues }))
      else {
        terminal.out(table(QUEUE_HEADS, queues.map(queueRow), 'no queues', terminal))
        for (const text of queues.map(unservedText)) if (text !== null) terminal.out(text)
      }
      return EXIT.done
    }),
}
