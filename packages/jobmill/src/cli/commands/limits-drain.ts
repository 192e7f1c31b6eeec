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
  },
  fields: { limit: 'NAME', 'options.retryAfter': '--for' },
  examples: ['jobmill limits drain smtp --for 30s', 'jobmill limits drain smtp'],
  run: (given, terminal) =>
    withMill(given, async (mill) => {
      const limit = await mill.limits.drain(
        given.words[0] ?? '',
        said({ retryAfter: lengthOf(given, 'for') }),
      )
      const { name, drainedMs } = limit
      const how = drainedMs === 0 ? 'what had gathered is gone' : `nothing is granted for ${left(drainedMs)}`
      terminal.out(given.has('json') ? JSON.stringify(limit) : `${name} is drained: ${how}`)
      return EXIT.done
    }),
}
