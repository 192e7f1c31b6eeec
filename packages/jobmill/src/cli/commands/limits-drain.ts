/** `jobmill limits drain`: nobody gets anything for a while. */
import { type Command, EXIT } from '../command.ts'
import { withMill } from '../with-mill.ts'
import { lengthOf, said } from '../typed-values.ts'
import { left } from '../wording.ts'

export const limitsDrain: Command = {
  words: 'limits drain',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'grant nothing of a limit for a while, in any process: after a 429 for example',
  options: {
    for: { type: 'string', takes: 'DURATION', says: 'how long; left out, only what had gathered is gone' },
    key: { type: 'string', takes: 'KEY', says: 'of a limit for each key: the one that waits' },
  },
  fields: { limit: 'NAME', 'options.retryAfter': '--for', key: '--key' },
  examples: [
    'jobmill limits drain smtp --for 30s',
    'jobmill limits drain smtp',
    'jobmill limits drain telegram-chat --key chat:42 --for 17s',
  ],
  run: (given, terminal) =>
    withMill(given, async (mill) => {
      const key = given.text('key')
      const limit = await mill.limits.drain(
        given.words[0] ?? '',
        said({ retryAfter: lengthOf(given, 'for'), key }),
      )
      const { name, drainedMs } = limit
      const how = drainedMs === 0 ? 'what had gathered is gone' : `nothing is granted for ${left(drainedMs)}`
      terminal.out(
        given.has('json')
          ? JSON.stringify(limit)
          : `${key === undefined ? name : `${name} ${key}`} is drained: ${how}`,
      )
      return EXIT.done
    }),
}
