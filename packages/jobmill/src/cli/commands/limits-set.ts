/** `jobmill limits set`: creates a limit, or changes one at run time. */
import { JobmillError } from '../../job/errors.ts'
import type { LimitOptions } from '../../job/limit/limit.ts'
import type { LimitChange } from '../../runtime/operate/limits.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { limitText } from '../limits/text.ts'
import { lengthOf, numberOf, omitUndefined } from '../program/typed-values.ts'
import { BY_CLI, withMill } from '../with-mill.ts'

export const limitsSet: Command = {
  words: 'limits set',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'create or change a limit; omitted options keep their values',
  options: {
    rate: { takes: 'N', says: 'maximum in each period of --per' },
    per: { takes: 'DURATION', says: 'period of the rate (default 1s)' },
    burst: {
      takes: 'N',
      says: 'how many may be acquired at once after an idle period (default: one second of the rate, at least 1)',
    },
    'per-key': { says: 'apply the rate to each key separately; only for a new limit' },
    concurrency: { takes: 'N', says: 'maximum at the same time, instead of a rate' },
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
  run: async (parsed, terminal) => {
    const change = changeOf(parsed)
    return withMill(
      parsed,
      async ({ limits }) => {
        const name = parsed.words[0] ?? ''
        const before = (await limits.list()).find((limit) => limit.name === name) ?? null
        // The library refuses a new limit with too few options.
        const after =
          before === null
            ? await limits.create(name, change as LimitOptions, BY_CLI)
            : await limits.change(name, change, BY_CLI)
        if (parsed.has('json')) terminal.out(JSON.stringify({ before, after }))
        else if (before === null) terminal.out(`created ${name}: ${limitText(after.settings)}`)
        else terminal.out(`${name}  ${limitText(before.settings)} → ${limitText(after.settings)}`)
        return EXIT.done
      },
      { mayCreate: true },
    )
  },
}

function changeOf(parsed: ParsedArguments): LimitChange {
  const change = omitUndefined({
    rate: numberOf(parsed, 'rate'),
    per: lengthOf(parsed, 'per'),
    burst: numberOf(parsed, 'burst'),
    perKey: parsed.has('per-key') ? true : undefined,
    concurrency: numberOf(parsed, 'concurrency'),
  })
  if (Object.keys(change).length > 0) return change
  throw new JobmillError('OPTION_INVALID', 'no setting passed', {
    field: 'limits set',
    fix: 'Pass --rate 50 --per 1m, or --concurrency 5',
  })
}
