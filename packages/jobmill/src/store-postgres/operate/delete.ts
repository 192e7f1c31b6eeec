/**
 * Deletes jobs that are not running, with their attempts and tags. The dedupe key of an ended job stays held
 * until its hold time is over.
 */
import type { Verdict } from '../../store/types/replies.ts'
import { type Context, run } from '../context.ts'
import { FREED, GIVEN_CTE, INPUT_IDS, TAKEN_CTE } from '../fragments.ts'
import { idsField, operate } from './states.ts'

/** Removes all rows of `doomed(id)`. */
const ROWS_REMOVED = `attempts_removed AS (
  DELETE FROM jobmill.attempt AS a WHERE a.job_id = ANY (ARRAY(SELECT id FROM doomed))
), jobs_removed AS (
  DELETE FROM jobmill.job AS j WHERE j.id = ANY (ARRAY(SELECT id FROM doomed)) RETURNING j.id, j.tags
), tags_removed AS (
  DELETE FROM jobmill.job_tag AS t
   WHERE t.tag = ANY (ARRAY(SELECT DISTINCT unnest(tags) FROM jobs_removed))
     AND t.job_id = ANY (ARRAY(SELECT id FROM jobs_removed WHERE tags IS NOT NULL))
)`

/**
 * Removes all rows of `doomed(id, queue_id, state)` and subtracts them from the counts. Used by delete and by
 * retention.
 */
export const REMOVED = `${ROWS_REMOVED}, tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, n) SELECT queue_id, state, count(*) FROM doomed GROUP BY 1, 2
)`

/** For a statement that ends jobs: removes those of `gone(id, forgotten)` that are not retained. */
export const FORGOTTEN_CTE = `doomed AS (
  SELECT id FROM gone WHERE forgotten
), ${ROWS_REMOVED}`

const DELETE_WAITING = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, ${TAKEN_CTE}, ended AS (
  SELECT id, state, flags FROM taken
), ${FREED}, doomed AS (
  SELECT id, queue_id, state FROM taken
), ${REMOVED}
SELECT id FROM doomed`

/** The attempt that ended a job serves as its lock: retry, retention and delete all lock it first. */
const DELETE_ENDED = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, doomed AS MATERIALIZED (
  SELECT a.job_id AS id, a.queue_id, a.ended_as AS state FROM jobmill.attempt AS a JOIN input ON input.id = a.job_id
   WHERE a.ended_as IS NOT NULL ORDER BY a.job_id FOR UPDATE OF a
), ${REMOVED}
SELECT id FROM doomed`

export function deleteJobs(context: Context, ids: readonly string[]): Promise<Verdict[]> {
  const { query } = context.connection
  return operate(context, ids, {
    async look(open) {
      const field = idsField(open)
      const waiting = await run(context, query, DELETE_WAITING, field)
      const ended = await run(context, query, DELETE_ENDED, field)
      return new Map(
        [...waiting, ...ended].map((row) => {
          const id = String(row['id'])
          return [id, { id, verdict: 'changed', state: null }] as const
        }),
      )
    },
    rest: (id, state) => (state === 'running' ? { id, verdict: 'refused', state } : undefined),
  })
}
