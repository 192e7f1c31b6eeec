/** Crashes that can be taken back, and overrides of options: each in its own file. */
import { migration } from '../../store/migrations.ts'
import { LOST_JOBS } from './0007/lost-jobs.ts'
import { OVERRIDES } from './0007/overrides.ts'

export const lostJobsAndOverrides = migration(7, 'lost jobs and overrides', LOST_JOBS + OVERRIDES)
