/** Durable steps, and the events and child jobs that jobs wait for. Jobs without steps have no rows here. */
export const STEPS = `
CREATE TABLE jobmill.step (
  job_id uuid NOT NULL,
  name text NOT NULL,
  place int4 NOT NULL,
  -- the index in STEP_KINDS
  kind int2 NOT NULL,
  -- of the attempt that last wrote it
  token int8 NOT NULL,
  started_at int8 NOT NULL,
  -- null while it runs or waits
  ended_at int8,
  -- when a wait ends without an event
  due_at int8,
  -- the events that a wait ends with; null for a sleep
  events text[],
  -- JSON text
  result text,
  checkpoint text,
  PRIMARY KEY (job_id, name)
);
-- An event stays after a step has taken it, so that an event that is sent twice is stored once.
CREATE TABLE jobmill.job_event (
  job_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  payload text NOT NULL,
  sent_at int8 NOT NULL,
  -- the step that has taken it
  step text,
  PRIMARY KEY (job_id, id)
);
-- A row stays until the parent is deleted, with the result of a child that was deleted before.
CREATE TABLE jobmill.child (
  id uuid PRIMARY KEY,
  parent_id uuid NOT NULL,
  step text NOT NULL,
  place int4 NOT NULL,
  -- null while the child is waiting or running
  ended_as int2,
  -- JSON text
  result text,
  error text
);
CREATE INDEX child_parent ON jobmill.child (parent_id, step, place);
CREATE INDEX child_open ON jobmill.child (parent_id, step) WHERE ended_as IS NULL;
-- Jobs that stage should look at: their waits, and the children of cancelled ones. The sender of an event and the end
-- of a child add a row, and so does a job that is parked. Neither sees the other before both have committed, and the
-- row of the last one is read after that.
CREATE TABLE jobmill.wake (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  job_id uuid NOT NULL,
  -- the job was cancelled, which may need a follow-up
  cancelled bool NOT NULL DEFAULT false
);
ALTER TABLE jobmill.wake SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
