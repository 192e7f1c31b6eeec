/** `jobmill queues pause` and `resume`. */
import { type Command, EXIT } from '../program/command.ts'
import { checkFound } from '../queues/unknown.ts'
import { BY_CLI, withMill } from '../with-mill.ts'

const MOST_NAMES = 1_000

function command(verb: 'pause' | 'resume', says: string, message: string): Command {
  return {
    words: `queues ${verb}`,
    takes: 'NAME …',
    arguments: [1, MOST_NAMES],
    says,
    fields: { queue: 'NAME' },
    examples: [`jobmill queues ${verb} mail`, `jobmill queues ${verb} mail reports --json`],
    run: (parsed, terminal) =>
      withMill(parsed, async (mill) => {
        // Check all names first, so that a typo in one of them changes nothing.
        const known = await mill.queues()
        for (const name of parsed.words) checkFound(known, name)
        const queues = []
        for (const name of parsed.words) queues.push(await mill[verb](name, BY_CLI))
        if (parsed.has('json')) terminal.out(JSON.stringify({ queues }))
        else for (const { name } of queues) terminal.out(`${name} ${message}`)
        return EXIT.done
      }),
  }
}

export const queuesPause = command(
  'pause',
  'stop claiming from queues; running jobs continue',
  'paused; running jobs continue',
)
export const queuesResume = command('resume', 'claim from paused queues again', 'resumed')
