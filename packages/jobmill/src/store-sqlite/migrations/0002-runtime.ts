/** What the runtime needs beside the foundation: logs of attempts, and the kinds whose deaths an instance wants followed up. */
import { migration } from '../../store/migrations.ts'

const sql = `
ALTER TABLE jobmill_job ADD COLUMN log TEXT; -- of the running attempt
ALTER TABLE jobmill_attempt ADD COLUMN log TEXT;
ALTER TABLE jobmill_instance ADD COLUMN on_dead TEXT NOT NULL DEFAULT '[]'; -- JSON array
`

export const runtime = migration(2, 'runtime', sql)
