/** Instances, duties, slots, and the jobs that a reaped instance held. */
export const INSTANCES = `
CREATE TABLE jobmill.instance (
  id uuid PRIMARY KEY,
  label text,
  version text,
  queues text[] NOT NULL,
  kinds text[] NOT NULL,
  capacity int4 NOT NULL,
  started_at int8 NOT NULL,
  renewed_at int8 NOT NULL,
  expires_at int8 NOT NULL,
  ended_at int8,
  -- how it ended: true for lost, false for stopped
  lost bool,
  on_dead text[] NOT NULL DEFAULT '{}',
  -- what an operator asked of it: quiet or stop
  requested text,
  requested_by text,
  requested_at int8
);
CREATE INDEX instance_expiry ON jobmill.instance (expires_at) WHERE ended_at IS NULL;
CREATE INDEX instance_ended ON jobmill.instance (ended_at) WHERE ended_at IS NOT NULL;

-- The versions of instances whose row retention deleted, because attempts outlive their instance.
CREATE TABLE jobmill.past_instance (
  id uuid PRIMARY KEY,
  version text NOT NULL,
  started_at int8 NOT NULL,
  ended_at int8 NOT NULL
);
CREATE INDEX past_instance_ended ON jobmill.past_instance (ended_at);
CREATE INDEX past_instance_version ON jobmill.past_instance (version);

-- One row, separate from jobmill.settings, so that a registration does not wait for a change of settings.
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

-- Jobs that a reaped instance held. If the instance registers again, its process was alive, and the counted
-- crashes are reverted.
CREATE TABLE jobmill.lost_job (
  instance uuid NOT NULL,
  job_id uuid NOT NULL,
  token int8 NOT NULL,
  PRIMARY KEY (instance, job_id, token)
);
`
