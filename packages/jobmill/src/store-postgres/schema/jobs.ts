/**
 * Jobs. A job row is written once. The state of a job is the small table that has its id: later, order_queue,
 * ready or running. If none has it, its one attempt with `ended_as` says how it ended. Without that, it is
 * running in a batch. See docs/internals/decisions/table-layout.md.
 *
 * Instants are milliseconds since the epoch. The codes of states and outcomes are in job/state.ts and
 * job/attempt/outcome.ts.
 */
export const JOBS = `
CREATE SEQUENCE jobmill.seq AS int8;
CREATE SEQUENCE jobmill.token AS int8;
-- Where the last large claim ended, as a hint for other claims: its seq, and 20 bits for its queue and priority.
-- A sequence, because its value is seen before the claim commits.
CREATE SEQUENCE jobmill.last_claim AS int8;

CREATE TABLE jobmill.job (
  id uuid PRIMARY KEY,
  queue_id int4 NOT NULL,
  kind_id int4 NOT NULL,
  priority int2 NOT NULL,
  max_attempts int2 NOT NULL,
  payload json NOT NULL,
  enqueued_at int8 NOT NULL,
  timeout_ms int8,
  tags text[],
  metadata json,
  dedupe_key text,
  -- how long the key stays held after 'done' only, any end ('ended'), 'started' or 'enqueued'; with 'due', until the
  -- job is due, which is at most this long after its first enqueue; null without a key
  hold_ms int8,
  hold_after text,
  order_key text,
  group_name text
);
-- For lists by tag. Jobs without tags have no rows here.
CREATE TABLE jobmill.job_tag (
  tag text NOT NULL,
  job_id uuid NOT NULL,
  PRIMARY KEY (tag, job_id)
);

-- flags: 1 has a dedupe key, 2 has an order key, 4 has its order lock, 8 (running only) has had a permit,
-- 16 has steps, 32 is a child, 64 has a group in a queue with groups (while it waits), 128 has passed the limits of
-- its group. A job of a group in a fair queue has a negative seq: see groups.ts. 256 its claim frees the key.
CREATE TABLE jobmill.later (
  due_at int8 NOT NULL,
  id uuid NOT NULL UNIQUE,
  queue_id int4 NOT NULL,
  kind_id int4 NOT NULL,
  tries int4 NOT NULL,
  priority int2 NOT NULL,
  attempt int2 NOT NULL,
  crashes int2 NOT NULL,
  flags int2 NOT NULL,
  PRIMARY KEY (due_at, id)
);
CREATE TABLE jobmill.ready (
  queue_id int4 NOT NULL,
  priority int2 NOT NULL,
  seq int8 NOT NULL,
  id uuid NOT NULL UNIQUE,
  ready_at int8 NOT NULL,
  kind_id int4 NOT NULL,
  tries int4 NOT NULL,
  attempt int2 NOT NULL,
  crashes int2 NOT NULL,
  flags int2 NOT NULL,
  PRIMARY KEY (queue_id, priority, seq)
);
CREATE INDEX ready_quarantined ON jobmill.ready (queue_id, priority, seq) WHERE crashes >= 2;
CREATE TABLE jobmill.running (
  id uuid PRIMARY KEY,
  token int8 NOT NULL,
  instance uuid NOT NULL,
  seq int8 NOT NULL,
  ready_at int8 NOT NULL,
  started_at int8 NOT NULL,
  queue_id int4 NOT NULL,
  kind_id int4 NOT NULL,
  tries int4 NOT NULL,
  priority int2 NOT NULL,
  attempt int2 NOT NULL,
  crashes int2 NOT NULL,
  flags int2 NOT NULL,
  cancel_reason text,
  progress json,
  log text
);
CREATE INDEX running_instance ON jobmill.running (instance);
CREATE INDEX running_cancelled ON jobmill.running (instance) WHERE cancel_reason IS NOT NULL;

-- The new jobs of a large claim share one row instead of one each in running. Each has its first attempt, no crash and
-- no flags. A job leaves its batch when it is done, or when a statement needs its own row: see functions/unpack.ts.
CREATE TABLE jobmill.batch (
  token int8 NOT NULL,
  queue_id int4 NOT NULL,
  instance uuid NOT NULL,
  started_at int8 NOT NULL,
  ids uuid[] NOT NULL,
  seqs int8[] NOT NULL,
  ready_ats int8[] NOT NULL,
  -- jobs that left without an attempt: they were unpacked, forgotten or deleted
  gone uuid[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (token, queue_id)
);
CREATE INDEX batch_instance ON jobmill.batch (instance);
-- Not compressed, because ids do not shrink.
ALTER TABLE jobmill.batch ALTER ids SET STORAGE EXTERNAL, ALTER seqs SET STORAGE EXTERNAL, ALTER ready_ats SET STORAGE EXTERNAL;

-- Due jobs that wait for their order lock, or for a slot or token of their group, first in, first out. The key of a
-- group is its name after the character 1, which no order key contains.
CREATE TABLE jobmill.order_queue (
  queue_id int4 NOT NULL,
  order_key text NOT NULL,
  pos int8 NOT NULL,
  id uuid NOT NULL UNIQUE,
  due_at int8 NOT NULL,
  kind_id int4 NOT NULL,
  tries int4 NOT NULL,
  priority int2 NOT NULL,
  flags int2 NOT NULL,
  -- not 0 for a retry that waits for its group
  attempt int2 NOT NULL DEFAULT 0,
  crashes int2 NOT NULL DEFAULT 0,
  PRIMARY KEY (queue_id, order_key, pos)
);
CREATE INDEX order_queue_due ON jobmill.order_queue (due_at, id);
-- Which job holds the order lock.
CREATE TABLE jobmill.order_lock (
  queue_id int4 NOT NULL,
  order_key text NOT NULL,
  job_id uuid NOT NULL UNIQUE,
  PRIMARY KEY (queue_id, order_key)
);
-- Order queues that stage should check. Every statement that adds a job to an order queue, removes one or
-- releases an order lock adds a row. Without it, every stage would have to read all order queues.
CREATE TABLE jobmill.order_check (
  n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue_id int4 NOT NULL,
  order_key text NOT NULL
);

-- The running jobs of a group with a concurrency limit, and those that are ready to run.
CREATE TABLE jobmill.group_slot (
  queue_id int4 NOT NULL,
  name text NOT NULL,
  job_id uuid NOT NULL UNIQUE,
  PRIMARY KEY (queue_id, name, job_id)
);
-- Groups with settings of their own, and groups whose jobs wait for a slot or a token. Stage deletes the others.
CREATE TABLE jobmill.job_group (
  queue_id int4 NOT NULL,
  name text NOT NULL,
  -- of its jobs in a fair queue: see group_start
  first_place int8 NOT NULL,
  -- set by an operator; null for the setting of the queue
  weight float8,
  concurrency int4,
  rate int4,
  rate_per_ms int8,
  paused bool NOT NULL DEFAULT false,
  changed_by text,
  changed_at int8,
  -- the instant up to which tokens are used, in microseconds
  used_until int8 NOT NULL DEFAULT 0,
  -- when stage should look again, because a token was missing
  check_at int8,
  PRIMARY KEY (queue_id, name)
);
CREATE INDEX job_group_check ON jobmill.job_group (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX job_group_weight ON jobmill.job_group (queue_id, first_place) WHERE weight IS NOT NULL;

-- Separate from the jobs, so that retention cannot delete a key that is still held.
CREATE TABLE jobmill.dedupe (
  key text PRIMARY KEY,
  job_id uuid NOT NULL,
  expires_at int8
);
CREATE INDEX dedupe_expiry ON jobmill.dedupe (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE jobmill.attempt (
  job_id uuid NOT NULL,
  token int8 NOT NULL,
  instance uuid,
  started_at int8,
  ended_at int8 NOT NULL,
  queue_id int4 NOT NULL,
  attempt int2 NOT NULL,
  -- attempts used after this one; less than its number if it was refunded
  spent int2 NOT NULL,
  crashes int2 NOT NULL,
  outcome int2 NOT NULL,
  ended_as int2,
  tries int4 NOT NULL,
  -- recorded by the reaper or a deregistration, so no finish was written under this token
  taken_back bool NOT NULL DEFAULT false,
  error text,
  result json,
  log text,
  PRIMARY KEY (job_id, token)
);
CREATE INDEX attempt_ended ON jobmill.attempt (queue_id, ended_as, ended_at, job_id) WHERE ended_as IS NOT NULL;

-- Every statement that moves jobs appends its counts, and fold merges them into total. Appending never waits.
CREATE TABLE jobmill.tally (
  queue_id int4 NOT NULL,
  from_state int2,
  to_state int2,
  n int8 NOT NULL
);
CREATE TABLE jobmill.total (
  queue_id int4 NOT NULL,
  state int2 NOT NULL,
  n int8 NOT NULL,
  PRIMARY KEY (queue_id, state)
);

-- These tables turn over many times an hour, but the autovacuum defaults wait for a share of the table.
ALTER TABLE jobmill.ready SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE jobmill.running SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE jobmill.batch SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE jobmill.later SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE jobmill.tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
