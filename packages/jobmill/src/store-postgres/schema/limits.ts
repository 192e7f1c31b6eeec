/** Limits, permits, and holders that wait for a limit. */
export const LIMITS = `
-- The budget of a key is a row of its own, named by the limit, a space and the key, so that every statement works on limits and keys alike.
-- A rate has amount, per_ms and burst, a concurrency limit has most. The instants are those of job/budget.ts, with their fractions.
CREATE TABLE jobmill.limit (
  name text PRIMARY KEY,
  amount int4,
  per_ms int8,
  burst int4,
  most int4,
  paid_at float8 NOT NULL DEFAULT 0,
  reserved_until float8 NOT NULL DEFAULT 0,
  drained_until float8 NOT NULL DEFAULT 0,
  per_key bool NOT NULL DEFAULT false,
  -- the limit that this row is a key of; null for a limit itself
  parent text,
  -- when to check whether the budget of a key is full again, so that its row can go: no take writes it, so a take touches no index
  look_at int8 NOT NULL DEFAULT 0,
  code json,
  overrides json NOT NULL DEFAULT '{}'
);
CREATE INDEX limit_own ON jobmill.limit (name) WHERE parent IS NULL;
CREATE INDEX limit_key ON jobmill.limit (parent, name) WHERE parent IS NOT NULL;
CREATE INDEX limit_look ON jobmill.limit (look_at) WHERE parent IS NOT NULL;
-- Of a job under its token, or of another holder, without one, while the instance lives.
CREATE TABLE jobmill.permit (
  limit_name text NOT NULL,
  holder uuid NOT NULL,
  instance uuid NOT NULL,
  token int8,
  amount int4 NOT NULL,
  PRIMARY KEY (limit_name, holder)
);
CREATE INDEX permit_holder ON jobmill.permit (holder);
CREATE INDEX permit_instance ON jobmill.permit (instance);
-- Gives the permits of jobs back, in the statement that takes these jobs out of running. A function, because it sees what was committed up to the moment
-- of its call: a take that had the row of such a job before us wrote a permit that the statement itself is too old to see.
CREATE FUNCTION jobmill.permits_freed(jobs uuid[]) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
  DELETE FROM jobmill.permit WHERE holder = ANY (jobs) AND token IS NOT NULL RETURNING limit_name
$$;
CREATE TABLE jobmill.limit_waiter (
  limit_name text NOT NULL,
  holder uuid NOT NULL,
  taken_at int8 NOT NULL,
  PRIMARY KEY (limit_name, holder)
);
CREATE INDEX limit_waiter_since ON jobmill.limit_waiter (taken_at);

ALTER TABLE jobmill.permit SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
