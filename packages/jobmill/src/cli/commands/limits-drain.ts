/** `jobmill limits drain`: empties a limit, and with `--for` keeps it empty for a while. */
import { type Command, EXIT } from '../program/command.ts'
import { withMill } from '../with-mill.ts'
import { lengthOf, omitUndefined } from '../program/typed-values.ts'
import { remainingText } from '../output/wording.ts'

export const limitsDrain: Command = {
  words: 'limits drain',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'empty a limit; with --for, it grants nothing for that long, for example after HTTP 429',
  options: {
    for: {
      takes: 'DURATION',
      says: 'how long the limit grants nothing; without it, only the accumulated burst is dropped',
    },
    key: { takes: 'KEY', says: 'key to drain, for a limit per key' },
  },
  fields: { limit: 'NAME', 'options.retryAfter': '--for', key: '--key' },
  examples: [
    'jobmill limits drain smtp --for 30s',
    'jobmill limits drain smtp',
    'jobmill limits drain telegram-chat --key chat:42 --for 17s',
  ],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const key = parsed.text('key')
      const limit = await mill.limits.drain(
        parsed.words[0] ?? '',
        omitUndefined({ retryAfter: lengthOf(parsed, 'for'), key }),
      )
      const { name, drainedMs } = limit
      const how = drainedMs === 0 ? 'burst dropped' : `blocked for ${remainingText(drainedMs)}`
      terminal.out(
        parsed.has('json')
          ? JSON.stringify(limit)
          : `drained ${key === undefined ? name : `${name} ${key}`}: ${how}`,
      )
      return EXIT.done
    }),
}
