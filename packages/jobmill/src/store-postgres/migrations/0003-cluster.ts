/**
 * What many processes share: leadership, slots, schedules, limits, figures and events. One table that was there before is altered, and nothing
 * refers to another by a key of the database's, so that a migration beside work that goes on waits for one lock and holds none that work
 * could wait for meanwhile. Since here `running.flags` has one bit more: 8 says that the job has had a permit.
 */
import { migration } from '../../store/migrations.ts'

export const cluster = migration(
  3,
  'cluster',
  `
ALTER TABLE jobmill.queue
  ADD COLUMN keep_done int4,
  ADD COLUMN keep_cancelled int4,
  ADD COLUMN keep_dead int4,
  ADD COLUMN limit_name text;

-- One row, beside jobmill.settings and not in it: who registers must not wait for who changes a setting.
CREATE TABLE jobmill.members (version int8 NOT NULL);
INSERT INTO jobmill.members VALUES (1);

CREATE TABLE jobmill.duty (
  name text PRIMARY KEY,
  leader uuid,
  expires_at int8,
  last_success_at int8,
  failures int8 NOT NULL
);
CREATE TABLE jobmill.slot (
  instance uuid NOT NULL,
  queue_id int4 NOT NULL,
  workers int4 NOT NULL,
  PRIMARY KEY (instance, queue_id)
);

CREATE TABLE jobmill.schedule (
  name text PRIMARY KEY,
  code json,
  version int8,
  operator json NOT NULL,
  -- an operator deleted what code defines
  deleted bool NOT NULL DEFAULT false,
  -- of what counts, so that a pulse need not read the definitions
  paused bool NOT NULL,
  revision int8 NOT NULL,
  created_at int8 NOT NULL,
  planned bool NOT NULL DEFAULT false,
  next_at int8,
  last_at int8,
  last_outcome text,
  last_job uuid,
  missed int8 NOT NULL DEFAULT 0,
  error text
);
-- Its first row is the next thing to do: what is not planned comes before what is.
CREATE INDEX schedule_next ON jobmill.schedule (planned, next_at) WHERE NOT paused AND NOT deleted;
-- Which instants were served. Apart from the schedules, so that one of the same name serves none again.
CREATE TABLE jobmill.tick (
  schedule text NOT NULL,
  at int8 NOT NULL,
  outcome text NOT NULL,
  job_id uuid NOT NULL,
  served_at int8 NOT NULL,
  PRIMARY KEY (schedule, at)
);
CREATE INDEX tick_served ON jobmill.tick (served_at);

-- A rate has amount, per_ms and burst, a concurrency limit has most. The instants are those of job/budget.ts, with their fractions.
CREATE TABLE jobmill.limit (
  name text PRIMARY KEY,
  amount int4,
  per_ms int8,
  burst int4,
  most int4,
  paid_at float8 NOT NULL DEFAULT 0,
  line_at float8 NOT NULL DEFAULT 0,
  drained_until float8 NOT NULL DEFAULT 0
);
-- Of a job under its token, or of another holder, without one, while the instance lives.
CREATE TABLE jobmill.permit (
  limit_name text NOT NULL,
  holder uuid NOT NULL,
  instance uuid NOT NULL,
  token int8,
  amount int4 NOT NULL,
  PRIMARY KEY (limit_name, holder)
);
CREATE INDEX permit_holder ON jobmill.permit (holder);
CREATE INDEX permit_instance ON jobmill.permit (instance);
-- Gives the permits of jobs back, in the statement that takes these jobs out of running. A function, because it sees what was committed up to the moment
-- of its call: a take that had the row of such a job before us wrote a permit that the statement itself is too old to see.
CREATE FUNCTION jobmill.permits_freed(jobs uuid[]) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
  DELETE FROM jobmill.permit WHERE holder = ANY (jobs) AND token IS NOT NULL RETURNING limit_name
$$;
CREATE TABLE jobmill.place (
  limit_name text NOT NULL,
  holder uuid NOT NULL,
  taken_at int8 NOT NULL,
  PRIMARY KEY (limit_name, holder)
);
CREATE INDEX place_taken ON jobmill.place (taken_at);

-- The last recording of each process.
CREATE TABLE jobmill.recorded (
  source uuid PRIMARY KEY,
  seq int8 NOT NULL,
  recorded_at int8 NOT NULL
);
CREATE INDEX recorded_time ON jobmill.recorded (recorded_at);
-- Figures as they came, each at the beginning of its 10 s, until they are merged into metric.
CREATE TABLE jobmill.figure (
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

-- They turn over like those of 0001.
ALTER TABLE jobmill.permit SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE jobmill.figure SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`,
)
