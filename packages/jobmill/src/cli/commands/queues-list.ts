/** `jobmill queues list`: lists all queues with their settings and counts. */
import { type Command, EXIT } from '../program/command.ts'
import { QUEUE_HEADS, queueRow, queueViews, unservedText } from '../queues/view.ts'
import { table } from '../output/table.ts'
import { withMill } from '../with-mill.ts'

export const queuesList: Command = {
  words: 'queues list',
  says: 'list queues with their settings, job counts and state',
  examples: ['jobmill queues list', `jobmill queues list --json | jq '.queues[] | select(.paused).name'`],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const queues = await queueViews(mill)
      if (parsed.has('json')) terminal.out(JSON.stringify({ queues }))
      else {
        terminal.out(table(QUEUE_HEADS, queues.map(queueRow), 'no queues', terminal))
        for (const text of queues.map(unservedText)) if (text !== null) terminal.out(text)
      }
      return EXIT.done
    }),
}
