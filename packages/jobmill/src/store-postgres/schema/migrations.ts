/**
 * The schema as numbered migrations. Until 0.1.0 is published there is one, which may be edited. From then
 * on, migrations are only added.
 */
import { migration, type Migration } from '../../store/admin/migrations.ts'
import { CLAIM_READY, ANY_READY, NEXT_DUE } from './functions/claim-ready.ts'
import { ENQUEUE_ALIKE, MAY_BEGIN } from './functions/enqueue-alike.ts'
import { ENQUEUE_DUE, OPEN_HEADS } from './functions/enqueue-due.ts'
import { FINISH_DONE, FORGET_DONE } from './functions/finish-done.ts'
import { HEARTBEAT } from './functions/heartbeat.ts'
import { INSTANCES } from './instances.ts'
import { JOBS } from './jobs.ts'
import { LIMITS } from './limits.ts'
import { METRICS } from './metrics.ts'
import { NAMES_VERSIONS } from './names.ts'
import { NOTIFIER } from './notifier.ts'
import { QUEUES } from './queues.ts'
import { SCHEDULES } from './schedules.ts'

const TABLES = [QUEUES, JOBS, INSTANCES, SCHEDULES, LIMITS, METRICS, NOTIFIER, NAMES_VERSIONS]

/**
 * The most frequent statements are functions, whose plans the server caches in each session, even behind a
 * pooler. A function that makes a decision reads first and then writes, and takes a row with the lock or
 * delete that finds it. See docs/internals/postgres-store.md.
 */
const FUNCTIONS = [
  OPEN_HEADS,
  ENQUEUE_DUE,
  MAY_BEGIN,
  ENQUEUE_ALIKE,
  CLAIM_READY,
  ANY_READY,
  NEXT_DUE,
  FINISH_DONE,
  FORGET_DONE,
  HEARTBEAT,
]

export const MIGRATIONS: readonly Migration[] = [migration(1, '0.1.0', [...TABLES, ...FUNCTIONS].join('\n'))]
