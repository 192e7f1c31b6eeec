/** Schedules, and the ticks that were served. */
export const SCHEDULES = `
CREATE TABLE jobmill_schedule (
  name TEXT PRIMARY KEY,
  code TEXT,                        -- JSON of the definition; NULL for one that was created at run time
  version INTEGER,
  overrides TEXT NOT NULL,          -- JSON: { option: { value, by, at } }
  deleted INTEGER NOT NULL,         -- 1: deleted by an operator; the row prevents a restore by code
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  planned INTEGER NOT NULL,
  next_at INTEGER,
  due_at INTEGER,                   -- 0: must be planned now; otherwise next_at; NULL for never
  last_at INTEGER,
  last_outcome TEXT,
  last_job TEXT,
  missed INTEGER NOT NULL,
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_schedule_due ON jobmill_schedule (due_at) WHERE due_at IS NOT NULL;

-- The served ticks. They outlive their schedule, so that a new one of this name does not repeat them.
CREATE TABLE jobmill_tick (
  schedule TEXT NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  job TEXT NOT NULL,
  served_at INTEGER NOT NULL,
  PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_tick_served ON jobmill_tick (served_at);
`
