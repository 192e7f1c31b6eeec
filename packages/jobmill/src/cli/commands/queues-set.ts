/** `jobmill queues set`: changes the settings of a queue at run time, and prints what changed. */
import { type Command, EXIT } from '../program/command.ts'
import { changesText, QUEUE_FIELDS, QUEUE_OPTIONS, queueChangeOf } from '../queues/changes.ts'
import { checkFound } from '../queues/unknown.ts'
import { BY_CLI, withMill } from '../with-mill.ts'

export const queuesSet: Command = {
  words: 'queues set',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'override settings of a queue in all processes within a second; see jobmill overrides reset',
  options: QUEUE_OPTIONS,
  fields: QUEUE_FIELDS,
  examples: [
    'jobmill queues set mail --workers 20 --backoff-base 5s --backoff-max 10m',
    'jobmill queues set mail --retain-dead 90d --keep-dead 10000 --limit smtp',
    'jobmill queues set mail --workers unset --limit none --cool-for 0s',
  ],
  run: async (parsed, terminal) => {
    const change = queueChangeOf(parsed)
    return withMill(parsed, async (mill) => {
      const name = parsed.words[0] ?? ''
      const before = checkFound(await mill.queues(), name)
      const after = await mill.changeQueue(name, change, BY_CLI)
      if (parsed.has('json')) terminal.out(JSON.stringify({ before, after }))
      else terminal.out(changesText(before, after))
      return EXIT.done
    })
  },
}
