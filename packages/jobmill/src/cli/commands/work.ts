/** `jobmill work`: workers and duties until a signal comes, and no API. */
import type { Command } from '../command.ts'
import { loadConfig } from '../load-config.ts'
import { LOG_OPTIONS, logFor } from '../mill-log.ts'
import { runMill } from '../run-mill.ts'

export const work: Command = {
  words: 'work',
  takes: '[config]',
  arguments: [0, 1],
  says: 'run the jobs of a config until a signal comes (the second one cuts the grace short)',
  options: LOG_OPTIONS,
  examples: ['jobmill work ./jobs.config.ts', 'JOBMILL_QUEUES=mail,reports jobmill work'],
  async run(given, terminal) {
    const config = await loadConfig(given.words[0] ?? given.text('config'), process.cwd())
    const options = { ...config, log: await logFor(given, config) }
    return runMill({ options, works: true, api: null, terminal })
  },
}
