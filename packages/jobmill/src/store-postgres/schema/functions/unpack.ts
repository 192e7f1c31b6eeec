/** unpack moves jobs of a batch to running, for the statements that need the row of a job. */
import { DELETE_EMPTY, PLANNED_ONCE } from './pieces.ts'

/**
 * Selects batches by token, by instance or by the jobs in them, and moves these jobs, or all if `members` is
 * null. Locks the batches, so that a job that is done at the same time is not moved. With instances, skips
 * locked batches: the next pass of the reaper finds them. Allows nested loops, which finish turns off.
 */
export const UNPACK = `
CREATE FUNCTION jobmill.unpack(by_token int8[], by_instance uuid[], members uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} SET enable_nestloop = on AS $$
DECLARE
  b jobmill.batch;
  locked refcursor;
  gone_ids uuid[];
  moved uuid[];
  chosen int8[];
BEGIN
  chosen := CASE WHEN by_token IS NOT NULL THEN by_token
    WHEN by_instance IS NOT NULL THEN ARRAY(SELECT h.token FROM jobmill.batch AS h WHERE h.instance = ANY (by_instance))
    ELSE ARRAY(SELECT h.token FROM jobmill.batch AS h WHERE h.ids && members) END;
  IF chosen = '{}' THEN RETURN; END IF;
  IF by_instance IS NULL THEN
    OPEN locked FOR SELECT * FROM jobmill.batch AS h WHERE h.token = ANY (chosen) ORDER BY h.token, h.queue_id FOR UPDATE;
  ELSE
    OPEN locked FOR SELECT * FROM jobmill.batch AS h WHERE h.token = ANY (chosen) ORDER BY h.token, h.queue_id FOR UPDATE SKIP LOCKED;
  END IF;
  LOOP
    FETCH locked INTO b;
    EXIT WHEN NOT FOUND;
    gone_ids := b.gone;
    WITH moving AS (
      INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      SELECT m.id, b.token, b.instance, m.seq, m.ready_at, b.started_at, b.queue_id, j.kind_id, 1, j.priority, 1, 0, 0
        FROM unnest(b.ids, b.seqs, b.ready_ats) AS m(id, seq, ready_at)
       CROSS JOIN LATERAL (SELECT * FROM jobmill.job WHERE job.id = m.id LIMIT 1) AS j
       WHERE (members IS NULL OR m.id = ANY (members)) AND NOT m.id = ANY (gone_ids)
         AND NOT EXISTS (SELECT FROM jobmill.attempt AS a WHERE a.job_id = m.id AND a.token = b.token)
      RETURNING id
    )
    SELECT coalesce(array_agg(v.id), '{}') INTO moved FROM moving AS v;
    IF members IS NULL THEN
      DELETE FROM jobmill.batch AS h WHERE h.token = b.token AND h.queue_id = b.queue_id;
    ELSIF moved <> '{}' THEN
      UPDATE jobmill.batch AS h SET gone = h.gone || moved
       WHERE h.token = b.token AND h.queue_id = b.queue_id;
    END IF;
  END LOOP;
  CLOSE locked;
  IF members IS NOT NULL THEN
    ${DELETE_EMPTY('chosen')}
  END IF;
END $$;`
