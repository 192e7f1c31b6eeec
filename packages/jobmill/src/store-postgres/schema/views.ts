/** Saved views of the job list. */
export const VIEWS = `
CREATE TABLE jobmill.saved_view (
  name text PRIMARY KEY,
  search text NOT NULL,
  author text NOT NULL,
  created_at int8 NOT NULL
);
`
