/** The secret in the names of the channels that jobs are sent through. Whoever may connect to the database may listen to any channel, so these
 * channels have no name that can be guessed. */
export const NOTIFIER = `
CREATE TABLE jobmill.secret (value text NOT NULL);
INSERT INTO jobmill.secret VALUES (concat(gen_random_uuid(), gen_random_uuid()));
`
