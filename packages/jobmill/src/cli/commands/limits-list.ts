/** `jobmill limits list`: lists all limits and their current availability. */
import type { LimitRecord } from '../../store/types/limit.ts'
import { type Command, EXIT } from '../program/command.ts'
import { limitText } from '../limits/text.ts'
import { type Cell, table } from '../output/table.ts'
import { withMill } from '../with-mill.ts'
import { remainingText } from '../output/wording.ts'

const HEADS = ['limit', 'settings', 'available', 'held', 'next in', 'drained', 'keys']

export const limitsList: Command = {
  words: 'limits list',
  says: 'list limits with their settings, availability and drains',
  examples: ['jobmill limits list', `jobmill limits list --json | jq '.limits[].available'`],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const limits = await mill.limits.list()
      if (parsed.has('json')) terminal.out(JSON.stringify({ limits }))
      else terminal.out(table(HEADS, limits.map(rowOf), 'no limits', terminal))
      return EXIT.done
    }),
}

function rowOf({ name, settings, available, held, nextInMs, drainedMs, keys }: LimitRecord): Cell[] {
  return [
    name,
    limitText(settings),
    available,
    settings.type === 'rate' ? null : held,
    nextInMs === null || nextInMs === 0 ? null : remainingText(nextInMs),
    drainedMs === 0 ? null : { text: `for ${remainingText(drainedMs)}`, style: 'yellow' },
    keys,
  ]
}
