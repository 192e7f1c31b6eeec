/** Limits, permits, and holders that wait for a limit. */
export const LIMITS = `
-- The budget of a key is a separate row, so that every statement works for limits and keys. A rate has amount,
-- per_ms and burst; a concurrency limit has most. The instants are those of job/limit/budget.ts, with fractions.
CREATE TABLE jobmill.limit (
  name text NOT NULL,
  -- '' for the limit itself
  key text NOT NULL DEFAULT '',
  amount int4,
  per_ms int8,
  burst int4,
  most int4,
  paid_at float8 NOT NULL DEFAULT 0,
  reserved_until float8 NOT NULL DEFAULT 0,
  drained_until float8 NOT NULL DEFAULT 0,
  per_key bool NOT NULL DEFAULT false,
  -- when to check whether the budget of a key is full again and its row can be deleted; no acquire
  -- writes it, so that an acquire updates no index
  look_at int8 NOT NULL DEFAULT 0,
  code json,
  overrides json NOT NULL DEFAULT '{}',
  PRIMARY KEY (name, key)
);
CREATE INDEX limit_own ON jobmill.limit (name) WHERE key = '';
CREATE INDEX limit_look ON jobmill.limit (look_at) WHERE key <> '';
-- Only limits without keys have permits. Permits of jobs have a lease token. Permits of other holders have none and last as long as the instance.
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
-- Releases the permits of jobs in the statement that removes them from running. A function, because it sees
-- everything committed before its call. A concurrent acquire may have added a permit that the snapshot of the
-- calling statement does not include.
CREATE FUNCTION jobmill.permits_freed(jobs uuid[]) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
  DELETE FROM jobmill.permit WHERE holder = ANY (jobs) AND token IS NOT NULL RETURNING limit_name
$$;
CREATE TABLE jobmill.limit_waiter (
  limit_name text NOT NULL,
  key text NOT NULL,
  holder uuid NOT NULL,
  taken_at int8 NOT NULL,
  PRIMARY KEY (limit_name, key, holder)
);
CREATE INDEX limit_waiter_since ON jobmill.limit_waiter (taken_at);

ALTER TABLE jobmill.permit SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
