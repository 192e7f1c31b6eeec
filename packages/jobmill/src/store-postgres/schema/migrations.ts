/**
 * The schema as numbered migrations. Until 0.1.0 is published there is one, which may be edited. From then
 * on, migrations are only added.
 */
import { migration, type Migration } from '../../store/admin/migrations.ts'
import { ALERTS } from './alerts.ts'
import { ANY_READY, CLAIM, FREE_KEYS, NEXT_DUE } from './functions/claim.ts'
import { ENQUEUE, FIRST_READY, INSERT_JOBS } from './functions/enqueue.ts'
import { FINISH } from './functions/finish.ts'
import { FINISH_EACH } from './functions/finish-each.ts'
import { UNPACK } from './functions/unpack.ts'
import { PRODUCE } from './functions/produce.ts'
import { RECORD_STEPS } from './functions/record-steps.ts'
import { GROUP_NAMES, HOLD_GROUP, STAGE_GROUPS } from './functions/group-limits.ts'
import { FAIR_PLACES, FAIR_TURNS, GROUP_LOOKS, GROUP_PLACES } from './functions/groups.ts'
import { HEARTBEAT } from './functions/heartbeat.ts'
import { WAIT_FOR } from './functions/wait-for.ts'
import { LIMITED } from './functions/limited.ts'
import { INSTANCES } from './instances.ts'
import { JOBS } from './jobs.ts'
import { LIMITS } from './limits.ts'
import { METRICS } from './metrics.ts'
import { NAMES_VERSIONS } from './names.ts'
import { NOTIFIER } from './notifier.ts'
import { QUEUES } from './queues.ts'
import { SCHEDULES } from './schedules.ts'
import { STEPS } from './steps.ts'
import { VIEWS } from './views.ts'

const TABLES = [
  QUEUES,
  JOBS,
  STEPS,
  INSTANCES,
  SCHEDULES,
  LIMITS,
  ALERTS,
  VIEWS,
  METRICS,
  NOTIFIER,
  NAMES_VERSIONS,
]

/**
 * The most frequent statements are functions, whose plans the server caches in each session, even behind a
 * pooler. A function that makes a decision reads first and then writes, and takes a row with the lock or
 * delete that finds it. See docs/internals/postgres-store.md.
 */
const FUNCTIONS = [
  GROUP_PLACES,
  GROUP_LOOKS,
  FIRST_READY,
  INSERT_JOBS,
  ENQUEUE,
  LIMITED,
  FAIR_PLACES,
  FAIR_TURNS,
  STAGE_GROUPS,
  HOLD_GROUP,
  GROUP_NAMES,
  FREE_KEYS,
  CLAIM,
  ANY_READY,
  NEXT_DUE,
  FINISH,
  FINISH_EACH,
  UNPACK,
  WAIT_FOR,
  RECORD_STEPS,
  HEARTBEAT,
  PRODUCE,
]

export const MIGRATIONS: readonly Migration[] = [migration(1, '0.1.0', [...TABLES, ...FUNCTIONS].join('\n'))]
