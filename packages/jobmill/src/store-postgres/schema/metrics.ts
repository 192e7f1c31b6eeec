/** Metrics and events. */
export const METRICS = `
-- The last recording of each process.
CREATE TABLE jobmill.recorded (
  source uuid PRIMARY KEY,
  seq int8 NOT NULL,
  recorded_at int8 NOT NULL
);
CREATE INDEX recorded_time ON jobmill.recorded (recorded_at);
-- Metrics as recorded, at the start of their 10 s bucket, until they are merged into metric.
CREATE TABLE jobmill.metric_delta (
  n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at int8 NOT NULL,
  scope text NOT NULL,
  data json NOT NULL
);
CREATE TABLE jobmill.metric (
  resolution int4 NOT NULL,
  at int8 NOT NULL,
  scope text NOT NULL,
  data json NOT NULL,
  PRIMARY KEY (resolution, at, scope)
);
CREATE TABLE jobmill.event (
  n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at int8 NOT NULL,
  type text NOT NULL,
  source uuid NOT NULL,
  queue text,
  job_id uuid,
  data json NOT NULL
);
CREATE INDEX event_at ON jobmill.event (at);
CREATE INDEX event_type ON jobmill.event (type, n);
CREATE INDEX event_queue ON jobmill.event (queue, n) WHERE queue IS NOT NULL;
CREATE INDEX event_job ON jobmill.event (job_id, n) WHERE job_id IS NOT NULL;

ALTER TABLE jobmill.metric_delta SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
