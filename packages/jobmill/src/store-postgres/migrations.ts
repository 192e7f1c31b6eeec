/**
 * The schema as numbered migrations. Until 0.1.0 is published there is one, which may be edited. From then
 * on, migrations are only added.
 */
import { migration, type Migration } from '../store/migrations.ts'
import { CLAIM_READY, ANY_READY, NEXT_DUE } from './schema/functions/claim-ready.ts'
import { ENQUEUE_ALIKE, MAY_BEGIN } from './schema/functions/enqueue-alike.ts'
import { ENQUEUE_DUE, OPEN_HEADS } from './schema/functions/enqueue-due.ts'
import { FINISH_DONE, FORGET_DONE } from './schema/functions/finish-done.ts'
import { HEARTBEAT } from './schema/functions/heartbeat.ts'
import { INSTANCES } from './schema/instances.ts'
import { JOBS } from './schema/jobs.ts'
import { LIMITS } from './schema/limits.ts'
import { METRICS } from './schema/metrics.ts'
import { NAMES_VERSIONS } from './schema/names.ts'
import { NOTIFIER } from './schema/notifier.ts'
import { QUEUES } from './schema/queues.ts'
import { SCHEDULES } from './schema/schedules.ts'

const TABLES = [QUEUES, JOBS, INSTANCES, SCHEDULES, LIMITS, METRICS, NOTIFIER, NAMES_VERSIONS]

/**
 * The most frequent statements are functions. The server caches their plans in each session, so no call is
 * planned and no named statement is needed, even behind a pooler. Their plans do not depend on values or
 * table sizes and never scan a table.
 *
 * Each statement inside a function sees everything committed before that statement began. A function that
 * makes a decision reads first and then writes. It takes a row with the lock or delete that finds it, never
 * based on an earlier read.
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
