/** `jobmill queues list`, `pause`, `resume` and `set`. */
import { tableOf } from '../output/table.ts'
import { type Command, ONE_NAME } from '../program/command.ts'
import { changesText, QUEUE_FIELDS, QUEUE_OPTIONS, queueChangeOf } from '../queues/changes.ts'
import { checkFound } from '../queues/unknown.ts'
import { QUEUE_COLUMNS, queueViews, unservedText } from '../queues/view.ts'
import { answerWith, BY_CLI } from '../with-mill.ts'

const MOST_NAMES = 1_000

const list: Command = {
  words: 'queues list',
  says: 'list queues with their settings, job counts and state',
  examples: ['jobmill queues list', `jobmill queues list --json | jq '.queues[] | select(.paused).name'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const queues = await queueViews(mill)
      const notes = queues.map(unservedText).filter((text) => text !== null)
      const text = [tableOf(queues, QUEUE_COLUMNS, 'no queues', terminal), ...notes]
      return { json: { queues }, text }
    }),
}

function steer(verb: 'pause' | 'resume', says: string, message: string): Command {
  return {
    words: `queues ${verb}`,
    takes: 'NAME …',
    arguments: [1, MOST_NAMES],
    says,
    fields: { queue: 'NAME' },
    examples: [`jobmill queues ${verb} mail`, `jobmill queues ${verb} mail reports --json`],
    run: (parsed, terminal) =>
      answerWith(parsed, terminal, async (mill) => {
        // Check all names first, so that a typo in one of them changes nothing.
        const known = await mill.queues()
        for (const name of parsed.words) checkFound(known, name)
        const queues = []
        for (const name of parsed.words) queues.push(await mill[verb](name, BY_CLI))
        return { json: { queues }, text: queues.map(({ name }) => `${name} ${message}`) }
      }),
  }
}

/** Changes the settings of a queue at run time, and prints what changed. */
const set: Command = {
  words: 'queues set',
  ...ONE_NAME,
  says: 'override settings of a queue in all processes within a second; see jobmill overrides reset',
  options: QUEUE_OPTIONS,
  fields: QUEUE_FIELDS,
  examples: [
    'jobmill queues set mail --workers 20 --backoff-base 5s --backoff-max 10m',
    'jobmill queues set mail --retain-dead 90d --keep-dead 10000 --limit smtp',
    'jobmill queues set mail --workers unset --limit none --cool-for 0s',
  ],
  async run(parsed, terminal) {
    const change = queueChangeOf(parsed)
    const [name = ''] = parsed.words
    return answerWith(parsed, terminal, async (mill) => {
      const before = checkFound(await mill.queues(), name)
      const after = await mill.changeQueue(name, change, BY_CLI)
      return { json: { before, after }, text: changesText(before, after) }
    })
  },
}

export const queues: readonly Command[] = [
  list,
  steer('pause', 'stop claiming from queues; running jobs continue', 'paused; running jobs continue'),
  steer('resume', 'claim from paused queues again', 'resumed'),
  set,
]
