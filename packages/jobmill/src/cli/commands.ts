/** Every command, in the order of the help. */
import type { Command } from './program/command.ts'
import { check } from './commands/check.ts'
import { db } from './commands/db.ts'
import { enqueue } from './commands/enqueue.ts'
import { jobActs } from './commands/jobs-act.ts'
import { jobsList, jobsShow } from './commands/jobs-read.ts'
import { limits } from './commands/limits.ts'
import { overrides } from './commands/overrides.ts'
import { queues } from './commands/queues.ts'
import { schedules } from './commands/schedules.ts'
import { start } from './commands/start.ts'
import { top } from './commands/top.ts'
import { transferCommand } from './commands/transfer.ts'
import { work } from './commands/work.ts'
import { workers } from './commands/workers.ts'

export const COMMANDS: readonly Command[] = [
  start,
  work,
  enqueue,
  jobsList,
  jobsShow,
  ...jobActs,
  ...queues,
  ...schedules,
  ...limits,
  ...overrides,
  workers,
  top,
  check,
  ...db,
  transferCommand,
]
