/** The `jobmill` program and its commands, in the order of the help. */
import { VERSION } from '../job/payload/version.ts'
import type { Terminal } from './output/terminal.ts'
import { type Command, COMMON, type ProgramInfo } from './program/command.ts'
import type { Program } from './program/program.ts'
import { alerts } from './commands/alerts.ts'
import { check } from './commands/check.ts'
import { db } from './commands/db.ts'
import { enqueue } from './commands/enqueue.ts'
import { errors } from './commands/errors.ts'
import { groups } from './commands/groups.ts'
import { jobActs } from './commands/jobs-act.ts'
import { jobsList, jobsShow } from './commands/jobs-read.ts'
import { limits } from './commands/limits.ts'
import { overrides } from './commands/overrides.ts'
import { queues } from './commands/queues.ts'
import { schedules } from './commands/schedules.ts'
import { start } from './commands/start.ts'
import { steps } from './commands/steps.ts'
import { top } from './commands/top.ts'
import { transferCommand } from './commands/transfer.ts'
import { work } from './commands/work.ts'
import { versions, workers } from './commands/workers.ts'

export const COMMANDS: readonly Command[] = [
  start,
  work,
  enqueue,
  jobsList,
  jobsShow,
  ...jobActs,
  ...steps,
  ...queues,
  ...groups,
  ...schedules,
  ...limits,
  ...alerts,
  ...overrides,
  errors,
  ...workers,
  versions,
  top,
  check,
  ...db,
  transferCommand,
]

export const JOBMILL: ProgramInfo<Command> = {
  name: 'jobmill',
  version: VERSION,
  introduction: `jobmill: background jobs on SQLite or PostgreSQL

The config is a module whose default export is the options of jobmill(): export default { jobs }.
Without a store in the config, DATABASE_URL selects the database; the default is the SQLite file jobs.db.`,
  commands: COMMANDS,
  common: () => COMMON,
}

export function ours(terminal: Terminal): Program<Command> {
  return { ...JOBMILL, run: (command, parsed) => command.run(parsed, terminal) }
}
