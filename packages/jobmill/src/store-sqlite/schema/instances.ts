/** Instances and their data: duties, slots, and the jobs of reaped instances. */
export const INSTANCES = `
CREATE TABLE jobmill_instance (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  label TEXT,
  version TEXT,
  queues TEXT NOT NULL,
  kinds TEXT NOT NULL,
  on_dead TEXT NOT NULL DEFAULT '[]', -- JSON array of kinds
  capacity INTEGER NOT NULL,
  state INTEGER NOT NULL,           -- 0 alive, 1 lost, 2 stopped
  started_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  requested TEXT,                   -- what an operator asked of it: quiet or stop
  requested_by TEXT,
  requested_at INTEGER
) STRICT;
CREATE INDEX jobmill_instance_expiry ON jobmill_instance (expires_at) WHERE state = 0;
CREATE INDEX jobmill_instance_ended ON jobmill_instance (ended_at) WHERE state > 0;

-- The versions of instances whose row retention deleted, because attempts outlive their instance.
CREATE TABLE jobmill_past_instance (
  id TEXT PRIMARY KEY,
  version TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_past_instance_ended ON jobmill_past_instance (ended_at);
CREATE INDEX jobmill_past_instance_version ON jobmill_past_instance (version);

CREATE TABLE jobmill_duty (
  name TEXT PRIMARY KEY,
  instance_pk INTEGER,              -- the leader until expires_at; NULL after it released the duty
  expires_at INTEGER,
  last_success_at INTEGER,
  failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobmill_slot (
  instance_pk INTEGER NOT NULL,
  queue_id INTEGER NOT NULL,
  workers INTEGER NOT NULL,
  PRIMARY KEY (instance_pk, queue_id)
) STRICT, WITHOUT ROWID;

-- Jobs that a reaped instance held. If the instance registers again, its process did not crash, and the crash
-- counts of these jobs are reverted. Refers to jobs by id, because a primary key is reused after a delete.
CREATE TABLE jobmill_lost_job (
  instance_pk INTEGER NOT NULL,
  job TEXT NOT NULL,
  token INTEGER NOT NULL,
  PRIMARY KEY (instance_pk, job, token)
) STRICT, WITHOUT ROWID;
`
