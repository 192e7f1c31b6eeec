/** `jobmill limits delete`: refused while a queue draws on the limit. */
import { isJobmillError, JobmillError, shown } from '../../job/errors.ts'
import type { Mill } from '../../runtime/mill.ts'
import { type Command, EXIT } from '../command.ts'
import { confirmed, YES } from '../confirm.ts'
import { limitText } from '../limits/text.ts'
import { withMill } from '../with-mill.ts'

export const limitsDelete: Command = {
  words: 'limits delete',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'delete a limit that no queue draws on; one that code declares is created again when it starts',
  options: { yes: YES },
  fields: { limit: 'NAME' },
  examples: ['jobmill limits delete smtp', 'jobmill limits delete smtp --yes'],
  run: (given, terminal) =>
    withMill(given, async (mill) => {
      const name = given.words[0] ?? ''
      const limit = (await mill.limits.list()).find((one) => one.name === name)
      if (limit === undefined) throw unknownLimit(name)
      if (!(await confirmed(`delete ${name} (${limitText(limit.settings)})?`, given, terminal))) {
        terminal.err('nothing was done')
        return EXIT.failed
      }
      const deleted = await mill.limits.delete(name).catch(async (error: unknown) => {
        throw await asUsed(error, name, mill)
      })
      terminal.out(given.has('json') ? JSON.stringify({ name, deleted }) : `${name} is deleted`)
      return EXIT.done
    }),
}

function unknownLimit(name: string): JobmillError {
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'NAME',
    value: shown(name),
    fix: 'Run jobmill limits list to see all limits',
  })
}

/** With the command that takes the limit from its queue. */
async function asUsed(error: unknown, name: string, mill: Pick<Mill, 'queues'>): Promise<unknown> {
  if (!isJobmillError(error) || error.code !== 'LIMIT_IN_USE') return error
  const user = (await mill.queues()).find(({ limit }) => limit === name)
  if (user === undefined) return error
  return new JobmillError('LIMIT_IN_USE', `the queue ${shown(user.name)} draws on it`, {
    field: 'NAME',
    value: shown(name),
    fix: `Run "jobmill queues set ${user.name} --limit none" first`,
    cause: error,
  })
}
