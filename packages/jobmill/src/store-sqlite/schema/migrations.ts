/**
 * The schema as numbered migrations. Until 0.1.0 is published there is one, which may be edited; from then
 * on, migrations are only added.
 */
import { migration, type Migration } from '../../store/admin/migrations.ts'
import { ALERTS } from './alerts.ts'
import { INSTANCES } from './instances.ts'
import { JOBS } from './jobs.ts'
import { LIMITS } from './limits.ts'
import { METRICS } from './metrics.ts'
import { QUEUES } from './queues.ts'
import { SCHEDULES } from './schedules.ts'
import { STEPS } from './steps.ts'
import { VIEWS } from './views.ts'

const SCHEMA = [QUEUES, JOBS, STEPS, INSTANCES, SCHEDULES, LIMITS, ALERTS, VIEWS, METRICS]

export const MIGRATIONS: readonly Migration[] = [migration(1, '0.1.0', SCHEMA.join('\n'))]
