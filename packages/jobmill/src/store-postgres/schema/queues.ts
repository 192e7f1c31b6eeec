/** Queues, kinds, and the version of all settings. */

/** Below half of the maximum of int4. */
const RANDOM_ID = '1 + floor(random() * 1e9)::int8'

export const QUEUES = `
-- Jobs refer to queues and kinds by id, so an id is never issued again. The tables do not own these sequences,
-- because TRUNCATE ... RESTART IDENTITY restarts those that they own.
CREATE SEQUENCE jobmill.queue_ids AS int4;
CREATE SEQUENCE jobmill.kind_ids AS int4;
-- They start at random numbers. If tables were recreated before a backup is restored into them, its jobs have ids
-- without a name. Otherwise they would have those of other names, and run under the wrong handlers.
SELECT setval('jobmill.queue_ids', ${RANDOM_ID}), setval('jobmill.kind_ids', ${RANDOM_ID});
CREATE TABLE jobmill.queue (
  id int4 PRIMARY KEY DEFAULT nextval('jobmill.queue_ids'),
  name text NOT NULL UNIQUE,
  workers int4,
  paused bool NOT NULL,
  backoff_enabled bool NOT NULL,
  backoff_base_ms int8 NOT NULL,
  backoff_max_ms int8 NOT NULL,
  retain_done_ms int8,
  retain_cancelled_ms int8,
  retain_dead_ms int8,
  cool_until int8 NOT NULL DEFAULT 0,
  throttles int4 NOT NULL DEFAULT 0,
  keep_done int4,
  keep_cancelled int4,
  keep_dead int4,
  limit_name text,
  target_latency_ms int8,
  group_fair bool NOT NULL DEFAULT false,
  group_concurrency int4,
  group_rate int4,
  group_rate_per_ms int8,
  -- the options that code declared last (null if it declares none), and those that an operator overrode: { option: { value, by, at } }
  code json,
  overrides json NOT NULL DEFAULT '{}'
);
CREATE TABLE jobmill.kind (
  id int4 PRIMARY KEY DEFAULT nextval('jobmill.kind_ids'),
  name text NOT NULL UNIQUE,
  -- whether a follow-up job runs when a job of this kind is cancelled
  on_cancelled bool NOT NULL DEFAULT false,
  -- what code declared for new jobs of this kind, for jobs that SQL enqueues: { queue, priority, maxAttempts, indexedPayload }
  defaults json
);
-- One row. It changes together with a setting, so that the new version is never visible before the new setting.
CREATE TABLE jobmill.settings (version int8 NOT NULL);
INSERT INTO jobmill.settings VALUES (1);
`
