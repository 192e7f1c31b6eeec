/** All tasks, in their order. Later ones rely on what earlier ones changed. */
import { accessible } from './accessible.ts'
import { cancelFromJob, cancelFromOverview } from './cancel.ts'
import { capacity } from './capacity.ts'
import { database } from './database.ts'
import { findByPayload } from './find.ts'
import { retryError, retryQueue } from './incident.ts'
import { keyboard } from './keyboard.ts'
import { phone } from './phone.ts'
import { changeWorkers, pauseQueue, resumeQueue } from './queues.ts'
import { editSchedule, pauseSchedule, runSchedule, scheduleOutcomes } from './schedules.ts'
import { share } from './share.ts'
import type { Task } from './task.ts'
import { why } from './why.ts'
import { quietProcess, whoRunsWhat } from './workers.ts'

export const TASKS: readonly Task[] = [
  retryError,
  retryQueue,
  why,
  pauseQueue,
  changeWorkers,
  resumeQueue,
  cancelFromOverview,
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
