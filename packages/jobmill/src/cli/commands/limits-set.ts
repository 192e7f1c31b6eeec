/** `jobmill limits set`: makes a limit, or changes one while everything runs. */
import { JobmillError } from '../../job/errors.ts'
import type { LimitOptions } from '../../job/limit.ts'
import type { LimitChange } from '../../runtime/limits.ts'
import { type Command, EXIT, type Given } from '../command.ts'
import { limitText } from '../limits/text.ts'
import { lengthOf, numberOf, said } from '../typed-values.ts'
import { BY_CLI, withMill } from '../with-mill.ts'

export const limitsSet: Command = {
  words: 'limits set',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'make a limit, or change one; what is left out stays as it is',
  options: {
    rate: { type: 'string', takes: 'N', says: 'so many in the time that --per says' },
    per: { type: 'string', takes: 'DURATION', says: 'the time that the rate counts for (default 1s)' },
    burst: {
      type: 'string',
      takes: 'N',
      says: 'how many can gather (default: what comes in a second, and at least 1)',
    },
    'per-key': { type: 'boolean', says: 'the rate counts for each key by itself; only of a new one' },
    concurrency: { type: 'string', takes: 'N', says: 'so many at once, instead of a rate' },
  },
  fields: {
    name: 'NAME',
    limit: 'NAME',
    'limit.rate': '--rate',
    'limit.per': '--per',
    'limit.burst': '--burst',
    'limit.perKey': '--per-key',
    'limit.concurrency': '--concurrency',
  },
  examples: [
    'jobmill limits set smtp --rate 50 --per 1m --burst 10',
    'jobmill limits set smtp --rate 100',
    'jobmill limits set db --concurrency 5',
    'jobmill limits set telegram-chat --rate 1 --burst 3 --per-key',
  ],
  run: async (given, terminal) => {
    const change = changeOf(given)
    return withMill(
      given,
      async ({ limits }) => {
        const name = given.words[0] ?? ''
        const before = (await limits.list()).find((limit) => limit.name === name) ?? null
        // A new one that has too little said of it is refused there.
        const after =
          before === null
            ? await limits.create(name, change as LimitOptions, BY_CLI)
            : await limits.change(name, change, BY_CLI)
        if (given.has('json')) terminal.out(JSON.stringify({ before, after }))
        else if (before === null) terminal.out(`${name} was made: ${limitText(after.settings)}`)
        else terminal.out(`${name}  ${limitText(before.settings)} → ${limitText(after.settings)}`)
        return EXIT.done
      },
      { mayCreate: true },
    )
  },
}

function changeOf(given: Given): LimitChange {
  const change = said({
    rate: numberOf(given, 'rate'),
    per: lengthOf(given, 'per'),
    burst: numberOf(given, 'burst'),
    perKey: given.has('per-key') ? true : undefined,
    concurrency: numberOf(given, 'concurrency'),
  })
  if (Object.keys(change).length > 0) return change
  throw new JobmillError('OPTION_INVALID', 'nothing says what to set', {
    field: 'limits set',
    fix: 'Give --rate 50 --per 1m, or --concurrency 5',
  })
}
