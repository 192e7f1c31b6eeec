/**
 * A shorter way for the enqueue that is most common: jobs that are all alike. No table changes: processes of the release before go on beside it with functions of
 * their own, which stay. Part of a migration: what has landed is never edited.
 */
import { migration } from '../../store/migrations.ts'
import { ENQUEUE_ALIKE, MAY_BEGIN } from './fast-path/enqueue-alike.ts'

export const alike = migration(8, 'alike', MAY_BEGIN + ENQUEUE_ALIKE)
