/**
 * Limits that count for each key by itself. The budget of a key is a row of its own beside that of its limit, called by the name, a space and the key: so whatever draws on a limit draws on a
 * key in the same way. `parent` names the limit, and is null for a limit itself. `look_at` is when it is first worth a look whether the budget is full again and the
 * row can go: no take writes it, so that a take still touches no index.
 */
import { migration } from '../../store/migrations.ts'

export const limitKeys = migration(
  6,
  'limit keys',
  `
ALTER TABLE jobmill.limit
  ADD COLUMN per_key bool NOT NULL DEFAULT false,
  ADD COLUMN parent text,
  ADD COLUMN look_at int8 NOT NULL DEFAULT 0;
CREATE INDEX limit_own ON jobmill.limit (name) WHERE parent IS NULL;
CREATE INDEX limit_key ON jobmill.limit (parent, name) WHERE parent IS NOT NULL;
CREATE INDEX limit_look ON jobmill.limit (look_at) WHERE parent IS NOT NULL;
`,
)
