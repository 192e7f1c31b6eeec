/**
 * Which jobs a reaped instance held. When that instance registers again, its process never went away, and the crashes that were counted for these
 * jobs are taken back.
 */
// The id of the job and not its row, whose number another job may get once this one is deleted.
export const LOST_JOBS = `
CREATE TABLE jobmill_lost_job (
  instance_pk INTEGER NOT NULL,
  job TEXT NOT NULL,
  token INTEGER NOT NULL,
  PRIMARY KEY (instance_pk, job, token)
) WITHOUT ROWID;
`
