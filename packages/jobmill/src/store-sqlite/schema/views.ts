/** Saved views of the job list. */
export const VIEWS = `
CREATE TABLE jobmill_view (
  name TEXT NOT NULL PRIMARY KEY,
  search TEXT NOT NULL,
  author TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
