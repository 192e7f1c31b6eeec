/** Cancels waiting jobs at once and requests the cancel of running ones. */
import { DEFAULTS } from '../../job/defaults.ts'
import { type Outcome, outcomeCode } from '../../job/attempt/outcome.ts'
import { type JobState, STATE_CODE } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { unpack } from '../claim/unpack.ts'
import { type Context, run } from '../context.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { FREED, GIVEN_CTE, INPUT_IDS, NOW, ORDERED_QUEUE, TAKEN_CTE } from '../fragments.ts'
import { trimHistory } from '../inspect/history.ts'
import { NEXT_TOKEN } from '../schema/functions/pieces.ts'
import { idsField, operate } from './states.ts'

/** Ends waiting jobs, and records an attempt that never ran. `more` adds columns to the reply. */
export const endWaiting = (outcome: Outcome, state: JobState, more = ''): string => `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, ${TAKEN_CTE}, recorded AS (
  INSERT INTO jobmill.attempt (job_id, token, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, error)
  SELECT id, ${NEXT_TOKEN}, ${NOW}, queue_id, attempt, attempt, crashes, ${outcomeCode(outcome)},
         ${STATE_CODE[state]}, tries + 1, (SELECT p ->> 'reason' FROM given)
    FROM taken
), ended AS (
  SELECT id, ${STATE_CODE[state]} AS state, flags, NULL::json AS result, (SELECT p ->> 'reason' FROM given) AS error FROM taken
), ${FREED}, tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, state, ${STATE_CODE[state]}, count(*) FROM taken GROUP BY 1, 2
)
SELECT id, tries, ${ORDERED_QUEUE} AS ordered${more} FROM taken`

export const CANCEL_WAITING = endWaiting('cancelled', 'cancelled')

/** The first reason is kept. The finish, deregister or reap that ends the attempt reads it. */
const request = (rows: string): string => `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, asked AS (
  UPDATE jobmill.running AS r SET cancel_reason = (SELECT p ->> 'reason' FROM given)
    ${rows} AND r.cancel_reason IS NULL
  RETURNING r.id
)
SELECT id, true AS now FROM asked
UNION ALL
SELECT r.id, false FROM jobmill.running AS r JOIN input ON input.id = r.id WHERE r.cancel_reason IS NOT NULL`
export const REQUEST_CANCEL = request('FROM input WHERE r.id = input.id')
const REQUEST_UNLOCKED = request(`WHERE r.id = ANY (ARRAY(
      SELECT h.id FROM jobmill.running AS h WHERE h.id = ANY (ARRAY(SELECT id FROM input)) FOR UPDATE SKIP LOCKED))`)

interface CancelOptions {
  /** Leaves running jobs alone that another transaction has locked, which may stay open for long. */
  readonly skipLocked?: boolean
}

export async function cancel(
  context: Context,
  ids: readonly string[],
  reason: string,
  { skipLocked = false }: CancelOptions = {},
): Promise<Verdict[]> {
  const { query } = context.connection
  const counts = readyCounts()
  const verdicts = await operate(context, ids, {
    async look(open) {
      const field = `${idsField(open)},"reason":${JSON.stringify(reason)}`
      const verdicts = new Map<string, Verdict>()
      const ended = await run(context, query, CANCEL_WAITING, field)
      for (const row of ended) {
        const id = String(row['id'])
        counts.addLook(row['ordered'])
        verdicts.set(id, { id, verdict: 'changed', state: 'cancelled' })
      }
      await trimHistory(
        context,
        query,
        ended.filter((row) => Number(row['tries']) >= DEFAULTS.historyPerJob).map((row) => String(row['id'])),
      )
      const rest = open.filter((id) => !verdicts.has(id))
      if (rest.length > 0) await unpack(context, query, { ids: rest })
      for (const row of await run(context, query, skipLocked ? REQUEST_UNLOCKED : REQUEST_CANCEL, field)) {
        const id = String(row['id'])
        verdicts.set(id, { id, verdict: row['now'] === true ? 'changed' : 'unchanged', state: 'running' })
      }
      return verdicts
    },
    rest(id, state) {
      if (state === 'done' || state === 'dead') return { id, verdict: 'refused', state }
      if (state === 'cancelled') return { id, verdict: 'unchanged', state }
      if (skipLocked && state === 'running') return { id, verdict: 'unchanged', state }
      // The job was claimed or staged concurrently. Look again, or the request would be lost.
      return undefined
    },
  })
  notifyFor(context, counts)
  return verdicts
}
