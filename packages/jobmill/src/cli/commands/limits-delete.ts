/** `jobmill limits delete`: deletes a limit, unless a queue uses it. */
import { isJobmillError, JobmillError, quote } from '../../job/errors.ts'
import type { Mill } from '../../runtime/mill.ts'
import { type Command, EXIT } from '../program/command.ts'
import { confirm, YES } from '../output/confirm.ts'
import { limitText } from '../limits/text.ts'
import { withMill } from '../with-mill.ts'

export const limitsDelete: Command = {
  words: 'limits delete',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'delete a limit that no queue uses; a limit in code is created again at the next start',
  options: { yes: YES },
  fields: { limit: 'NAME' },
  examples: ['jobmill limits delete smtp', 'jobmill limits delete smtp --yes'],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const name = parsed.words[0] ?? ''
      const limit = (await mill.limits.list()).find((one) => one.name === name)
      if (limit === undefined) throw unknownLimit(name)
      if (!(await confirm(`delete ${name} (${limitText(limit.settings)})?`, parsed, terminal))) {
        terminal.err('nothing was deleted')
        return EXIT.refused
      }
      const deleted = await mill.limits.delete(name).catch(async (error: unknown) => {
        throw await explainInUse(error, name, mill)
      })
      terminal.out(parsed.has('json') ? JSON.stringify({ name, deleted }) : `deleted ${name}`)
      return EXIT.done
    }),
}

function unknownLimit(name: string): JobmillError {
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'NAME',
    value: quote(name),
    fix: 'Run jobmill limits list to see all limits',
  })
}

/** Adds the command that removes the limit from its queue. */
async function explainInUse(error: unknown, name: string, mill: Pick<Mill, 'queues'>): Promise<unknown> {
  if (!isJobmillError(error) || error.code !== 'LIMIT_IN_USE') return error
  const user = (await mill.queues()).find(({ limit }) => limit === name)
  if (user === undefined) return error
  return new JobmillError('LIMIT_IN_USE', `is used by queue ${quote(user.name)}`, {
    field: 'NAME',
    value: quote(name),
    fix: `Run "jobmill queues set ${user.name} --limit none" first`,
    cause: error,
  })
}
