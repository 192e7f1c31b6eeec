/** `jobmill check`: reports all errors and warnings of a config. */
import { nearest } from '../../job/options/known-keys.ts'
import { type Resolved, resolveOptions } from '../../runtime/options/options.ts'
import type { Problem } from '../../runtime/options/problems.ts'
import { type Command, EXIT } from '../program/command.ts'
import { loadConfig } from '../config/load-config.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { print } from '../output/print.ts'
import { countText } from '../output/wording.ts'

export const check: Command = {
  words: 'check',
  takes: '[config]',
  arguments: [0, 1],
  says: 'check a config for errors',
  examples: ['jobmill check', 'jobmill check ./jobs.config.ts --json'],
  async run(parsed, terminal) {
    const options = await loadConfig(parsed.words[0] ?? parsed.text('config'), process.cwd())
    const resolved = resolveOptions(options)
    const problems = [...resolved.problems, ...straySchedules(resolved)]
    const errors = problems.filter(({ level }) => level === 'error').length
    const text = [
      ...problems.map(({ level, code, message }) => `${level.padEnd(7)} ${code} ${safeLine(message)}`),
      `${countText(errors, 'error')}, ${countText(problems.length - errors, 'warning')}`,
    ]
    const code = errors > 0 ? EXIT.failed : EXIT.done
    return print(parsed, terminal, { json: { errors, problems }, text, code })
  },
}

/**
 * A mill starts with a schedule whose kind another process runs. In a config that also has jobs this may be a
 * mistake: if no process runs the kind, its jobs wait forever. A config without jobs may declare schedules
 * for other processes. The options already warn of a kind that looks like a typo.
 */
function straySchedules({ jobs, schedules }: Resolved): Problem[] {
  const kinds = jobs.map(({ kind }) => kind)
  if (kinds.length === 0) return []
  return schedules.flatMap(({ name, definition: { kind } }) => {
    if (kinds.includes(kind) || nearest(kind, kinds) !== undefined) return []
    const option = `schedules ${name}`
    const message = `${option}: kind "${kind}" is not defined in this config. Run a worker that defines it, or add the job.`
    return [{ level: 'warning', code: 'OPTION_INVALID', option, message }]
  })
}
