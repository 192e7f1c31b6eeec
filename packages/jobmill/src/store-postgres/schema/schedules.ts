/** Schedules and the instants that they have served. */
export const SCHEDULES = `
CREATE TABLE jobmill.schedule (
  name text PRIMARY KEY,
  code json,
  version int8,
  -- the options that an operator set: { option: { value, by, at } }
  overrides json NOT NULL,
  -- an operator deleted it; the row keeps code from restoring it
  deleted bool NOT NULL DEFAULT false,
  -- the effective value, so that a heartbeat does not have to read the definitions
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
-- Its first row is the next schedule to serve. Schedules without a plan come first.
CREATE INDEX schedule_next ON jobmill.schedule (planned, next_at) WHERE NOT paused AND NOT deleted;
-- The served instants. Separate from the schedules, so that a new schedule of the same name serves none again.
CREATE TABLE jobmill.tick (
  schedule text NOT NULL,
  at int8 NOT NULL,
  outcome text NOT NULL,
  job_id uuid NOT NULL,
  served_at int8 NOT NULL,
  PRIMARY KEY (schedule, at)
);
CREATE INDEX tick_served ON jobmill.tick (served_at);
`
