/** Metrics and events. */
export const METRICS = `
CREATE TABLE jobmill_recording (
  source TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,             -- of the last recording that was written
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobmill_recording_at ON jobmill_recording (at);

-- Metric deltas that are not rolled up yet, by their bucket of 10 s.
CREATE TABLE jobmill_metric_delta (
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
