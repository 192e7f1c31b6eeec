/** Durable steps, and the events and child jobs that jobs wait for in a step. */
export const STEPS = `
CREATE TABLE jobmill_step (
  job_pk INTEGER NOT NULL,
  name TEXT NOT NULL,
  place INTEGER NOT NULL,
  kind INTEGER NOT NULL,            -- the index in STEP_KINDS
  token INTEGER NOT NULL,           -- of the attempt that last wrote it
  started_at INTEGER NOT NULL,
  ended_at INTEGER,                 -- NULL while it runs or waits
  due_at INTEGER,                   -- when a wait ends without an event
  events TEXT,                      -- JSON array: the events that a wait ends with; NULL for a sleep
  result TEXT,
  checkpoint TEXT,
  PRIMARY KEY (job_pk, name)
) STRICT, WITHOUT ROWID;

-- Kept after a step has taken the event, so that an event that is sent twice is stored once.
CREATE TABLE jobmill_job_event (
  job_pk INTEGER NOT NULL,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  payload TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  step TEXT,                        -- the step that has taken it
  PRIMARY KEY (job_pk, id)
) STRICT, WITHOUT ROWID;

-- The row stays until the parent is deleted, with the result of a child that was deleted before.
CREATE TABLE jobmill_child (
  parent_pk INTEGER NOT NULL,
  step TEXT NOT NULL,
  place INTEGER NOT NULL,
  id TEXT NOT NULL,
  ended_as INTEGER,                 -- NULL while the child is waiting or running
  result TEXT,
  error TEXT,
  PRIMARY KEY (parent_pk, step, place)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX jobmill_child_id ON jobmill_child (id);
CREATE INDEX jobmill_child_open ON jobmill_child (parent_pk, step) WHERE ended_as IS NULL;
`
