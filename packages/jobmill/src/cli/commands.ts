/** Every command, in the order of the help. */
import type { Command } from './program/command.ts'
import { check } from './commands/check.ts'
import { db } from './commands/db.ts'
import { enqueue } from './commands/enqueue.ts'
import { jobsCancel, jobsDelete, jobsRetry, jobsRunNow } from './commands/jobs-act.ts'
import { jobsList } from './commands/jobs-list.ts'
import { jobsShow } from './commands/jobs-show.ts'
import { limitsDelete } from './commands/limits-delete.ts'
import { limitsDrain } from './commands/limits-drain.ts'
import { limitsList } from './commands/limits-list.ts'
import { limitsSet } from './commands/limits-set.ts'
import { transferCommand } from './commands/transfer.ts'
import { overridesList, overridesReset } from './commands/overrides.ts'
import { queuesList } from './commands/queues-list.ts'
import { queuesPause, queuesResume } from './commands/queues-pause.ts'
import { queuesSet } from './commands/queues-set.ts'
import { schedulesAdd } from './commands/schedules-add.ts'
import { schedulesList } from './commands/schedules-list.ts'
import { schedulesNext } from './commands/schedules-next.ts'
import {
  schedulesDelete,
  schedulesPause,
  schedulesResume,
  schedulesTrigger,
} from './commands/schedules-steer.ts'
import { start } from './commands/start.ts'
import { top } from './commands/top.ts'
import { work } from './commands/work.ts'
import { workers } from './commands/workers.ts'

export const COMMANDS: readonly Command[] = [
  start,
  work,
  enqueue,
  jobsList,
  jobsShow,
  jobsRetry,
  jobsCancel,
  jobsRunNow,
  jobsDelete,
  queuesList,
  queuesPause,
  queuesResume,
  queuesSet,
  schedulesList,
  schedulesNext,
  schedulesAdd,
  schedulesPause,
  schedulesResume,
  schedulesTrigger,
  schedulesDelete,
  limitsList,
  limitsSet,
  limitsDrain,
  limitsDelete,
  overridesList,
  overridesReset,
  workers,
  top,
  check,
  ...db,
  transferCommand,
]
