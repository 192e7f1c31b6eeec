/** Schedules, and the ticks that were served. */
export const SCHEDULES = `
CREATE TABLE jobmill_schedule (
  name TEXT PRIMARY KEY,
  code TEXT,                        -- JSON of the definition; NULL for one that was created at run time
  version INTEGER,
  operator TEXT NOT NULL,           -- JSON of what an operator changed
  stamps TEXT NOT NULL DEFAULT '{}', -- JSON: { option of operator: { by, at } }
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
`
