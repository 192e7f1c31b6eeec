/** `jobmill check`: says everything that is wrong with a config, and what looks odd. */
import { checkOptions } from '../../runtime/mill.ts'
import { type Command, EXIT } from '../command.ts'
import { loadConfig } from '../load-config.ts'

export const check: Command = {
  words: 'check',
  takes: '[config]',
  arguments: [0, 1],
  says: 'say what is wrong with a config',
  examples: ['jobmill check', 'jobmill check ./jobs.config.ts --json'],
  async run(given, terminal) {
    const problems = checkOptions(await loadConfig(given.words[0] ?? given.text('config'), process.cwd()))
    const errors = problems.filter(({ level }) => level === 'error').length
    if (given.has('json')) terminal.out(JSON.stringify({ errors, problems }))
    else {
      for (const { level, code, message } of problems) terminal.out(`${level.padEnd(7)} ${code} ${message}`)
      terminal.out(`${errors} errors, ${problems.length - errors} warnings`)
    }
    return errors > 0 ? EXIT.failed : EXIT.done
  },
}
