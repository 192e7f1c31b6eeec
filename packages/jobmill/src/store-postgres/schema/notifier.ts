/**
 * The secret in the channel names of remote dispatch. Any role that can connect may listen on any channel, so
 * these names must not be guessable.
 */
export const NOTIFIER = `
CREATE TABLE jobmill.secret (value text NOT NULL);
INSERT INTO jobmill.secret VALUES (concat(gen_random_uuid(), gen_random_uuid()));
`
