/**
 * Limits that count for each key by itself. The budget of a key is a row of its own beside that of its limit, called by the name, a space and the key: so whatever draws on a limit draws on a
 * key in the same way.
 */
import { migration } from '../../store/migrations.ts'

// The last index has a row per key, by the instant from which on its budget is full: those at its front are as if they had never been used.
const sql = `
ALTER TABLE jobmill_limit ADD COLUMN per_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobmill_limit ADD COLUMN parent TEXT; -- the name of the limit whose key it is; NULL for a limit itself
CREATE INDEX jobmill_limit_own ON jobmill_limit (name) WHERE parent IS NULL;
CREATE INDEX jobmill_limit_key ON jobmill_limit (parent) WHERE parent IS NOT NULL;
CREATE INDEX jobmill_limit_full ON jobmill_limit (max(paid_at, line_at, drained_until)) WHERE parent IS NOT NULL;
`

export const limitKeys = migration(6, 'limit-keys', sql)
