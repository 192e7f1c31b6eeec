/**
 * Which jobs a reaped instance held. When that instance registers again, its process never went away, and the crashes that were counted for these
 * jobs are taken back. Part of a migration: what has landed is never edited.
 *
 * Only a new table: processes of the release before keep working beside it. They write no rows here, so the crashes that they count stay.
 */
export const LOST_JOBS = `
CREATE TABLE jobmill.lost_job (
  instance uuid NOT NULL,
  job_id uuid NOT NULL,
  token int8 NOT NULL,
  PRIMARY KEY (instance, job_id, token)
);`
