/** Jobs, and the counters of the file. */
// Instants are milliseconds since the epoch. Outcomes are the codes of job/attempt/outcome.ts, states those
// of job/state.ts: 0 scheduled, 1 ready, 2 running, 3 done, 4 dead, 5 cancelled. A job with two crashes is
// quarantined (DEFAULTS.crashesUntilAlone). The indexes of ready and of quarantined jobs contain `crashes`,
// so that a claim decides without reading the row. Every index except that on id is partial, so a job is in
// only one or two of them.
export const JOBS = `
CREATE TABLE jobmill_job (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  queue_id INTEGER NOT NULL,
  kind_id INTEGER NOT NULL,
  state INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  seq INTEGER NOT NULL,             -- position among the ready jobs, or in the order queue
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  in_order_queue INTEGER NOT NULL,  -- due, and waits: 1 for the order lock of its key, 2 for its group
  records INTEGER NOT NULL,         -- attempts ever recorded; jobmill_attempt has the newest 32
  token INTEGER NOT NULL,           -- of the last claim
  instance_pk INTEGER,              -- the instance of the last claim
  flags INTEGER NOT NULL DEFAULT 0, -- 1: release its permits when it stops running; 2: it has steps; 4: it was sent events;
                                    -- 8: it is a child; 16: it has passed the limits of its group; 64: its claim frees its key
  enqueued_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  ready_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  timeout_ms INTEGER,
  hold_ms INTEGER,                  -- how long its dedupe key stays held after hold_after; NULL without a key
  hold_after TEXT,                  -- 'done', 'ended' for any end, 'started', 'enqueued' or 'due'; NULL without a key
  order_key TEXT,
  group_name TEXT,
  dedupe_key TEXT,
  tags TEXT,                        -- JSON array, or NULL for none
  cancel_reason TEXT,
  progress TEXT,
  log TEXT,                         -- of the running attempt
  result TEXT,
  metadata TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobmill_job_id ON jobmill_job (id);
CREATE INDEX jobmill_job_ready ON jobmill_job (queue_id, kind_id, priority, seq, crashes) WHERE state = 1 AND crashes < 2;
CREATE INDEX jobmill_job_quarantined ON jobmill_job (queue_id, kind_id, priority, seq, crashes) WHERE state = 1 AND crashes >= 2;
CREATE INDEX jobmill_job_due ON jobmill_job (in_order_queue, due_at, id) WHERE state = 0;
CREATE INDEX jobmill_job_order ON jobmill_job (queue_id, order_key, seq) WHERE state = 0 AND in_order_queue = 1;
CREATE INDEX jobmill_job_group ON jobmill_job (queue_id, group_name, seq) WHERE state = 0 AND in_order_queue = 2;
CREATE INDEX jobmill_job_running ON jobmill_job (instance_pk, started_at) WHERE state = 2;
CREATE INDEX jobmill_job_asked ON jobmill_job (instance_pk) WHERE state = 2 AND cancel_reason IS NOT NULL;
CREATE INDEX jobmill_job_ended ON jobmill_job (queue_id, state, ended_at) WHERE state >= 3;

CREATE TABLE jobmill_attempt (
  job_pk INTEGER NOT NULL,
  token INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER NOT NULL,
  went_to INTEGER,                  -- the state that a finish gave the job; NULL if no finish wrote this row
  instance TEXT,
  error TEXT,
  log TEXT,
  PRIMARY KEY (job_pk, token)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobmill_dedupe (
  key TEXT PRIMARY KEY,
  job_id TEXT NOT NULL,
  expires_at INTEGER                -- NULL until the job ends, unless the key is held for a time only
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_dedupe_expiry ON jobmill_dedupe (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE jobmill_order_lock (
  queue_id INTEGER NOT NULL,
  order_key TEXT NOT NULL,
  job_pk INTEGER NOT NULL,
  PRIMARY KEY (queue_id, order_key)
) STRICT, WITHOUT ROWID;

-- Order queues with a first job and a free lock, by the position of that job.
CREATE TABLE jobmill_order_due (
  queue_id INTEGER NOT NULL,
  order_key TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (queue_id, order_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_order_due_place ON jobmill_order_due (place);

-- Groups with jobs in queues with groups. Retention deletes those that were not used for days.
CREATE TABLE jobmill_group (
  id INTEGER PRIMARY KEY,           -- part of the place of its ready jobs
  queue_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  weight REAL,                      -- this and the next four: set by an operator; NULL for the setting of the queue
  concurrency INTEGER,
  rate INTEGER,
  rate_per_ms INTEGER,
  paused INTEGER NOT NULL DEFAULT 0,
  changed_by TEXT,
  changed_at INTEGER,
  running INTEGER NOT NULL DEFAULT 0, -- jobs that passed its limits and have not ended
  used_until INTEGER NOT NULL DEFAULT 0, -- the instant up to which tokens are used, in microseconds
  check_at INTEGER,                 -- when stage should look for a job to promote
  used_at INTEGER NOT NULL,
  UNIQUE (queue_id, name)
) STRICT;
CREATE INDEX jobmill_group_check ON jobmill_group (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX jobmill_group_weight ON jobmill_group (queue_id) WHERE weight IS NOT NULL;
CREATE INDEX jobmill_group_used ON jobmill_group (used_at) WHERE changed_at IS NULL AND running = 0 AND check_at IS NULL;

CREATE TABLE jobmill_tag (
  tag TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (tag, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobmill_count (
  queue_id INTEGER NOT NULL,
  state INTEGER NOT NULL,
  n INTEGER NOT NULL,
  wake_ups INTEGER NOT NULL,          -- only in the row of state 1: rises when the queue gets work
  arrived INTEGER NOT NULL DEFAULT 0, -- only in the row of state 1: how many jobs ever became ready
  PRIMARY KEY (queue_id, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobmill_counter (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO jobmill_counter (name, value) VALUES ('seq', 0), ('token', 0), ('settings', 0),
  ('members', 0), ('event', 0), ('names', random() & 9007199254740991), ('history', random() & 9007199254740991);
`
