/** `jobmill check`: says everything that is wrong with a config, and what looks odd. */
import { type Resolved, resolveOptions } from '../../runtime/options.ts'
import type { Problem } from '../../runtime/problems.ts'
import { type Command, EXIT } from '../command.ts'
import { loadConfig } from '../load-config.ts'
import { oneLine } from '../plain.ts'
import { counted } from '../wording.ts'

export const check: Command = {
  words: 'check',
  takes: '[config]',
  arguments: [0, 1],
  says: 'say what is wrong with a config',
  examples: ['jobmill check', 'jobmill check ./jobs.config.ts --json'],
  async run(given, terminal) {
    const options = await loadConfig(given.words[0] ?? given.text('config'), process.cwd())
    const resolved = resolveOptions(options)
    const problems = [...resolved.problems, ...straySchedules(resolved)]
    const errors = problems.filter(({ level }) => level === 'error').length
    if (given.has('json')) terminal.out(JSON.stringify({ errors, problems }))
    else {
      for (const { level, code, message } of problems)
        terminal.out(`${level.padEnd(7)} ${code} ${oneLine(message)}`)
      terminal.out(`${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`)
    }
    return errors > 0 ? EXIT.failed : EXIT.done
  },
}

/**
 * A mill starts with a schedule whose kind another process has. In the config that has the jobs too it is a mistake: what it enqueues would wait for ever. One
 * without any jobs declares schedules for others.
 */
function straySchedules({ jobs, schedules }: Resolved): Problem[] {
  const kinds = new Set(jobs.map(({ kind }) => kind))
  if (kinds.size === 0) return []
  return schedules.flatMap(({ name, definition: { kind } }) => {
    if (kinds.has(kind)) return []
    const option = `schedules ${name}`
    const message = `${option}: no job of this config has the kind "${kind}". Add the job, or declare the schedule in the config that has it.`
    return [{ level: 'error', code: 'OPTION_INVALID', option, message }]
  })
}
