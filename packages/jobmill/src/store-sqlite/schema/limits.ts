/** Limits, permits, and waiters. Instants of a budget have fractions (job/limit/budget.ts). */
export const LIMITS = `
-- The budget of a key is a row of its own, so that every statement works on limits and keys alike.
CREATE TABLE jobmill_limit (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  key TEXT NOT NULL DEFAULT '',     -- '' for the limit itself
  settings TEXT NOT NULL,           -- JSON
  paid_at REAL NOT NULL,
  reserved_until REAL NOT NULL,
  drained_until REAL NOT NULL,
  held INTEGER NOT NULL,            -- the sum of its permits
  code TEXT,
  overrides TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE UNIQUE INDEX jobmill_limit_name ON jobmill_limit (name, key);
CREATE INDEX jobmill_limit_own ON jobmill_limit (name) WHERE key = '';
-- The keys, by the instant at which their budget is full again. Retention deletes keys past that instant.
CREATE INDEX jobmill_limit_full ON jobmill_limit (max(paid_at, reserved_until, drained_until)) WHERE key <> '';

CREATE TABLE jobmill_permit (
  limit_id INTEGER NOT NULL,
  holder TEXT NOT NULL,
  instance_pk INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (limit_id, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_permit_holder ON jobmill_permit (holder);
CREATE INDEX jobmill_permit_instance ON jobmill_permit (instance_pk);

CREATE TABLE jobmill_limit_waiter (
  limit_id INTEGER NOT NULL,
  holder TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (limit_id, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_limit_waiter_since ON jobmill_limit_waiter (since);
`
