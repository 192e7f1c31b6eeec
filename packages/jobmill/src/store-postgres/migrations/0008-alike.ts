/**
 * A shorter way for the enqueue that is most common: jobs that are all alike. No table of before changes: processes of the release before go on beside it with functions of
 * their own, which stay. Part of a migration: what has landed is never edited.
 */
import { migration } from '../../store/migrations.ts'
import { ENQUEUE_ALIKE, MAY_BEGIN } from './fast-path/enqueue-alike.ts'

/** Known to who may read the schema. Whoever may connect to the database may listen at any channel and send to it, so jobs go through channels that have no known name. */
const SECRET = `
CREATE TABLE jobmill.secret (value text NOT NULL);
INSERT INTO jobmill.secret VALUES (concat(gen_random_uuid(), gen_random_uuid()));`

export const alike = migration(8, 'alike', SECRET + MAY_BEGIN + ENQUEUE_ALIKE)
