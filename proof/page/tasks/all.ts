/** All tasks, in their order. Later ones rely on what earlier ones changed. */
import { accessible } from './accessible.ts'
import { cancelFromJob, cancelFromOverview, findRunaway } from './cancel.ts'
import { capacity } from './capacity.ts'
import { database } from './database.ts'
import { findByPayload } from './find.ts'
import { retryError, retryQueue, sinceWhen } from './incident.ts'
import { keyboard } from './keyboard.ts'
import { phone } from './phone.ts'
import { changeWorkers, pauseQueue, resumeQueue } from './queues.ts'
import { editSchedule, pauseSchedule, runSchedule, scheduleOutcomes } from './schedules.ts'
import { share } from './share.ts'
import type { Task } from './task.ts'
import { why } from './why.ts'
import { quietProcess, whoRunsWhat } from './workers.ts'

export const TASKS: readonly Task[] = [
  // Before the cause is fixed.
  sinceWhen,
  retryError,
  retryQueue,
  why,
  pauseQueue,
  changeWorkers,
  resumeQueue,
  cancelFromOverview,
  findRunaway,
  cancelFromJob,
  findByPayload,
  capacity,
  editSchedule,
  pauseSchedule,
  runSchedule,
  scheduleOutcomes,
  whoRunsWhat,
  quietProcess,
  database,
  share,
  keyboard,
  accessible,
  phone,
]
