/** Two indexes that every job passes through lose the id at their end: 36 characters that were written and moved for each. */
import { migration } from '../../store/migrations.ts'

// The names stay: statements of an earlier release go by them, and sort the few jobs of one instant by id themselves.
const sql = `
DROP INDEX jobmill_job_running;
DROP INDEX jobmill_job_ended;
CREATE INDEX jobmill_job_running ON jobmill_job (instance_pk, started_at) WHERE state = 2;
CREATE INDEX jobmill_job_ended ON jobmill_job (queue_id, state, ended_at) WHERE state >= 3;
`

export const narrowIndexes = migration(4, 'narrow-indexes', sql)
