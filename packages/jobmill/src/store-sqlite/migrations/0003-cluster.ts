/** What several processes share: duties and slots, schedules, limits, figures and events. */
import { migration } from '../../store/migrations.ts'

// Instants are milliseconds since the epoch; those of a budget have fractions (job/budget.ts). What is small by nature has no index
// beside its key: a row per duty, schedule, limit or queue, and slots and permits only while an instance lives.
const sql = `
INSERT INTO jobmill_counter (name, value) VALUES ('members', 0), ('event', 0);

CREATE TABLE jobmill_duty (
  name TEXT PRIMARY KEY,
  instance_pk INTEGER,              -- who leads it until the lease is over; NULL when it was let go
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

CREATE TABLE jobmill_schedule (
  name TEXT PRIMARY KEY,
  code TEXT,                        -- JSON of the definition; NULL for one that was created at run time
  version INTEGER,
  operator TEXT NOT NULL,           -- JSON of what an operator changed
  deleted INTEGER NOT NULL,         -- 1: by an operator; the row keeps code from bringing it back
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  planned INTEGER NOT NULL,
  next_at INTEGER,
  due_at INTEGER,                   -- when there is something to do: 0 to plan it, next_at to serve it, NULL for never
  last_at INTEGER,
  last_outcome TEXT,
  last_job TEXT,
  missed INTEGER NOT NULL,
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_schedule_due ON jobmill_schedule (due_at) WHERE due_at IS NOT NULL;

-- Planned instants that were served. Apart from the schedules: one of the same name serves none of them again.
CREATE TABLE jobmill_tick (
  schedule TEXT NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  job TEXT NOT NULL,
  served_at INTEGER NOT NULL,
  PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_tick_served ON jobmill_tick (served_at);

CREATE TABLE jobmill_limit (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL,           -- JSON
  paid_at REAL NOT NULL,
  line_at REAL NOT NULL,
  drained_until REAL NOT NULL,
  held INTEGER NOT NULL             -- the sum of its permits
) STRICT;

CREATE TABLE jobmill_permit (
  limit_id INTEGER NOT NULL,
  holder TEXT NOT NULL,
  instance_pk INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (limit_id, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_permit_holder ON jobmill_permit (holder);
CREATE INDEX jobmill_permit_instance ON jobmill_permit (instance_pk);

CREATE TABLE jobmill_place (
  limit_id INTEGER NOT NULL,
  holder TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (limit_id, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_place_since ON jobmill_place (since);

ALTER TABLE jobmill_count ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0; -- of state 1: how many ever became ready
ALTER TABLE jobmill_queue ADD COLUMN keep_done INTEGER;
ALTER TABLE jobmill_queue ADD COLUMN keep_cancelled INTEGER;
ALTER TABLE jobmill_queue ADD COLUMN keep_dead INTEGER;
ALTER TABLE jobmill_queue ADD COLUMN limit_id INTEGER;
CREATE INDEX jobmill_queue_limit ON jobmill_queue (limit_id) WHERE limit_id IS NOT NULL;

-- 1: it may have permits, which go when it stops running; means something while running. Most jobs never have any.
ALTER TABLE jobmill_job ADD COLUMN permits INTEGER NOT NULL DEFAULT 0;

CREATE TABLE jobmill_recording (
  source TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,             -- of the last one that was written
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_recording_at ON jobmill_recording (at);

-- Figures that were not rolled up yet, by the bucket of 10 s that they belong to.
CREATE TABLE jobmill_figure (
  n INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  at INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;

CREATE TABLE jobmill_metric (
  resolution INTEGER NOT NULL,
  scope TEXT NOT NULL,
  at INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (resolution, scope, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_metric_at ON jobmill_metric (resolution, at);

CREATE TABLE jobmill_event (
  n INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  source TEXT NOT NULL,
  queue TEXT,
  job TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX jobmill_event_at ON jobmill_event (at);
CREATE INDEX jobmill_event_type ON jobmill_event (type, n);
CREATE INDEX jobmill_event_queue ON jobmill_event (queue, n) WHERE queue IS NOT NULL;
CREATE INDEX jobmill_event_job ON jobmill_event (job, n) WHERE job IS NOT NULL;
`

export const cluster = migration(3, 'cluster', sql)
