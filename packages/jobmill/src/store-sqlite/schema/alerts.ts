/** Alert rules with their state. */
export const ALERTS = `
CREATE TABLE jobmill_alert (
  name TEXT NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL,
  rule TEXT NOT NULL,               -- JSON, with the secrets of the webhook
  state TEXT NOT NULL               -- JSON
) STRICT, WITHOUT ROWID;
`
