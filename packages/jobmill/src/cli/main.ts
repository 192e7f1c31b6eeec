#!/usr/bin/env node
/** The command line: finds the command, reads the config, and turns errors into a line and an exit code. */
import { parseArgs } from 'node:util'
import { isJobmillError } from '../job/errors.ts'
import { check } from './check.ts'
import { loadConfig } from './load-config.ts'
import { terminal } from './terminal.ts'
import { work } from './work.ts'

const HELP = `jobmill: durable background work

  jobmill work [config]    run the jobs of a config until a signal comes (the second one cuts the grace short)
  jobmill check [config]   say what is wrong with a config

The config is a module whose default export is the options of jobmill(): export default { store, jobs }.
Without a path it is jobmill.config.ts, .js or .mjs of this folder.

  jobmill work ./jobs.config.ts
  JOBMILL_QUEUES=mail,reports jobmill work`

const COMMANDS = { work, check }

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  const [name = '', config, ...more] = positionals
  if (values.help === true || name === 'help') {
    terminal.out(HELP)
    return 0
  }
  if (!Object.hasOwn(COMMANDS, name) || more.length > 0) {
    terminal.err(name === '' ? HELP : `error   there is no such command: ${positionals.join(' ')}\n\n${HELP}`)
    return 2
  }
  const command = COMMANDS[name as keyof typeof COMMANDS]
  return command(await loadConfig(config, process.cwd()), terminal)
}

// By exit, since a handler that ignores its signal must not keep the process alive after the stop.
try {
  process.exit(await main())
} catch (error) {
  terminal.err(`error   ${isJobmillError(error) || isUsage(error) ? error.message : describe(error)}`)
  process.exit(2)
}

function isUsage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

/** An error of the config itself: where it is matters. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
