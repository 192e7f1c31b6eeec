/**
 * Deletes jobs that are not running, with their attempts and tags. The dedupe key of an ended job stays held
 * until its hold time is over.
 */
import { STATE_CODE } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { ask, type Context } from '../context.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { FREED, GIVEN_CTE, INPUT_IDS, KEYED, ORDERED_QUEUE, TAKEN_CTE } from '../fragments.ts'
import { CHILD_DELETED, STEP_KINDS } from '../../store/types/step.ts'
import { operate } from './states.ts'

const CHILD = STEP_KINDS.indexOf('child')

/**
 * Removes all rows of `doomed(id, queue_id, state, token)` and subtracts them from the counts. Used by delete
 * and by retention. `token` is that of the attempt that ended the job. If a batch has this token, the job
 * leaves it: without its attempt it would run again. The batch is changed before the attempt is deleted, so
 * that a finish that is sent again waits for the batch.
 *
 * The open children of a cancelled job keep their records, for a stage that has not cancelled them yet.
 */
export const REMOVED = `left_batch AS (
  UPDATE jobmill.batch AS b SET gone = b.gone || d.ids
    FROM (SELECT token, queue_id, array_agg(id) AS ids FROM doomed GROUP BY 1, 2) AS d
   WHERE b.token = ANY (ARRAY(SELECT token FROM doomed)) AND b.token = d.token AND b.queue_id = d.queue_id
  RETURNING 1
), attempts_removed AS (
  DELETE FROM jobmill.attempt AS a
   WHERE (SELECT count(*) FROM left_batch) >= 0 AND a.job_id = ANY (ARRAY(SELECT id FROM doomed))
), steps_removed AS (
  DELETE FROM jobmill.step AS s WHERE s.job_id = ANY (ARRAY(SELECT id FROM doomed)) RETURNING s.job_id, s.kind
), children_removed AS (
  DELETE FROM jobmill.child AS c WHERE c.parent_id = ANY (ARRAY(SELECT s.job_id FROM steps_removed AS s WHERE s.kind = ${CHILD}))
     AND (c.ended_as IS NOT NULL OR NOT c.parent_id = ANY (ARRAY(SELECT id FROM doomed WHERE state = ${STATE_CODE.cancelled})))
), events_removed AS (
  DELETE FROM jobmill.job_event AS e WHERE e.job_id = ANY (ARRAY(SELECT id FROM doomed))
), jobs_removed AS (
  DELETE FROM jobmill.job AS j WHERE j.id = ANY (ARRAY(SELECT id FROM doomed)) RETURNING j.id, j.tags
), tags_removed AS (
  DELETE FROM jobmill.job_tag AS t
   WHERE t.tag = ANY (ARRAY(SELECT DISTINCT unnest(tags) FROM jobs_removed))
     AND t.job_id = ANY (ARRAY(SELECT id FROM jobs_removed WHERE tags IS NOT NULL))
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, n) SELECT queue_id, state, count(*) FROM doomed GROUP BY 1, 2
)`

const DELETE_WAITING = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, ${TAKEN_CTE}, ended AS (
  SELECT id, state, flags, NULL::json AS result, '${CHILD_DELETED}' AS error FROM taken
), ${FREED}, other_keys_freed AS (
  -- Those that do not depend on the end of the job.
  DELETE FROM jobmill.dedupe AS d
   WHERE d.key = ANY (ARRAY(SELECT j.dedupe_key FROM jobmill.job AS j WHERE j.id = ANY (ARRAY(SELECT id FROM taken WHERE flags & ${KEYED} = 0))))
     AND d.job_id = ANY (ARRAY(SELECT id FROM taken WHERE flags & ${KEYED} = 0))
), doomed AS (
  SELECT id, queue_id, state, NULL::int8 AS token FROM taken
), ${REMOVED}
SELECT id, ${ORDERED_QUEUE} AS ordered FROM taken`

/** The attempt that ended a job serves as its lock: retry, retention and delete all lock it first. */
const DELETE_ENDED = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, doomed AS MATERIALIZED (
  SELECT a.job_id AS id, a.queue_id, a.ended_as AS state, a.token FROM jobmill.attempt AS a JOIN input ON input.id = a.job_id
   WHERE a.ended_as IS NOT NULL ORDER BY a.job_id FOR UPDATE OF a
), ${REMOVED}
SELECT id FROM doomed`

export async function deleteJobs(context: Context, ids: readonly string[]): Promise<Verdict[]> {
  const counts = readyCounts()
  const verdicts = await operate(context, ids, {
    async look(open) {
      const waiting = await ask<{ id: string; ordered: unknown }>(context, DELETE_WAITING, { ids: open })
      for (const { ordered } of waiting) counts.addLook(ordered)
      const ended = await ask<{ id: string }>(context, DELETE_ENDED, { ids: open })
      return new Map([...waiting, ...ended].map(({ id }) => [id, { id, verdict: 'changed', state: null }]))
    },
    rest: (id, state) => (state === 'running' ? { id, verdict: 'refused', state } : undefined),
  })
  notifyFor(context, counts)
  return verdicts
}
