/**
 * A claim that looks a second time whether its queues are open. It reads them first and locks jobs after that, and each statement sees what was committed before it:
 * a job that was throttled between the two came back with a queue that cools down, and was taken from it. Whoever sees such a job sees its queue as it
 * left it, so a look after the jobs are locked cannot be too early. Part of a migration: what has landed is never edited.
 */
import { CLAIM_READY } from './claim-ready.ts'

const LOCKED = `     ORDER BY x.priority, x.seq LIMIT most);
`
const STILL_OPEN = `  IF places <> '{}' AND EXISTS (
    SELECT FROM jobmill.queue AS q WHERE q.id = ANY (open_queues) AND (q.paused OR q.cool_until > at OR q.limit_name IS NOT NULL)) THEN
    open_queues := ARRAY(
      SELECT CASE WHEN NOT q.paused AND q.cool_until <= at AND q.limit_name IS NULL THEN q.id END
        FROM unnest(open_queues) WITH ORDINALITY AS w(id, n) LEFT JOIN jobmill.queue AS q ON q.id = w.id ORDER BY w.n);
    places := ARRAY(SELECT r.ctid FROM jobmill.ready AS r WHERE r.ctid = ANY (places) AND r.queue_id = ANY (open_queues));
  END IF;
`

export const CLAIM_STILL_OPEN = CLAIM_READY.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION').replace(
  LOCKED,
  LOCKED + STILL_OPEN,
)
