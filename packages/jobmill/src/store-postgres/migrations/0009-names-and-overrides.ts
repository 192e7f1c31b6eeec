/** Versions of the names that are cached, crashes that can be taken back, and overrides of options: each in its own file. */
import { migration } from '../../store/migrations.ts'
import { LOST_JOBS } from './0009/lost-jobs.ts'
import { NAMES_VERSIONS } from './0009/names.ts'
import { OVERRIDES } from './0009/overrides.ts'

export const namesAndOverrides = migration(9, 'names and overrides', LOST_JOBS + NAMES_VERSIONS + OVERRIDES)
