/** Alert rules with their state. */
export const ALERTS = `
CREATE TABLE jobmill.alert (
  name text PRIMARY KEY,
  revision int8 NOT NULL,
  -- with the secrets of the webhook
  rule json NOT NULL,
  state json NOT NULL
);
`
