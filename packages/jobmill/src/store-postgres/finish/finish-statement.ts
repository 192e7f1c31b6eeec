/**
 * The statement that ends attempts. Its DELETE is the fence: without a row for this id and token, the attempt
 * has lost its lease and nothing is written.
 */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Finish, Transition } from '../../store/types/finish.ts'
import { FORGOTTEN_CTE } from '../operate/delete.ts'
import {
  FREED,
  freedFor,
  GIVEN_CTE,
  NOW,
  PERMITS_FREED,
  queueName,
  WITHOUT_PERMIT,
  XID,
} from '../fragments.ts'

const { scheduled, ready, running, done, cancelled } = STATE_CODE

/**
 * The keys that stay held, in one row only. A join with `keyed` would be a nested loop that takes as long as
 * the rest of the statement.
 */
const HOLDS = `CASE WHEN n = (SELECT min(n) FROM gone) THEN (SELECT json_object_agg(id, hold_ms) FROM keyed WHERE hold_ms <> 0) END`

/**
 * `gone(…, state)`: rows removed from running, with their next state. A requested cancel overrides every
 * state except done. Uses the primary key of `running`. Concurrent finishes of one row wait for each other,
 * and the second finds nothing.
 */
const finishStatement = (forgets: boolean): string => `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given AS g, json_to_recordset(g.p -> 'items') AS x(
    n int4, id uuid, token int8, to_state int2, delay_ms int8, refund int2, outcome int2, error text, ran_ms int8, log text,
    has_result bool, result json, forget bool)
), gone AS (
  DELETE FROM jobmill.running AS r USING input AS i WHERE r.id = i.id AND r.token = i.token
  RETURNING r.*, i.n, i.delay_ms, i.refund, i.outcome, i.error, i.ran_ms, i.log AS last_log, i.forget IS TRUE AS forgotten,
    CASE WHEN i.has_result THEN coalesce(i.result, 'null'::json) END AS result,
    (r.cancel_reason IS NOT NULL AND i.to_state <> ${done}) AS forced,
    CASE WHEN r.cancel_reason IS NOT NULL AND i.to_state <> ${done} THEN ${cancelled}
         WHEN i.to_state = ${scheduled} AND i.delay_ms = 0 THEN ${ready}
         ELSE i.to_state END AS state,
    i.to_state = ${ready} AS handed_back
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, CASE WHEN handed_back THEN seq ELSE nextval('jobmill.seq') END, id,
         CASE WHEN handed_back THEN ready_at ELSE ${NOW} END, kind_id, tries, greatest(attempt - refund, 0), crashes,
         ${WITHOUT_PERMIT}
    FROM (SELECT * FROM gone WHERE state = ${ready} ORDER BY n) AS g
), to_later AS (
  INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT ${NOW} + delay_ms, id, queue_id, kind_id, tries, priority, greatest(attempt - refund, 0), crashes,
         ${WITHOUT_PERMIT}
    FROM gone WHERE state = ${scheduled}
), recorded AS (
  INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes,
                               outcome, ended_as, tries, error, result, log)
  SELECT id, token, instance, greatest(started_at, ${NOW} - coalesce(ran_ms, ${NOW})), ${NOW}, queue_id, attempt,
         greatest(attempt - refund, 0), crashes,
         CASE WHEN forced THEN ${outcomeCode('cancelled')} ELSE outcome END,
         CASE WHEN state >= ${done} THEN state END, tries, CASE WHEN forced THEN cancel_reason ELSE error END, result,
         coalesce(last_log, log)
    FROM gone WHERE (outcome IS NOT NULL OR forced) AND NOT forgotten
), ended AS (
  SELECT id, state, flags FROM gone WHERE state >= ${done}
), ${FREED}, ${PERMITS_FREED}, ${forgets ? `${FORGOTTEN_CTE}, ` : ''}tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${running}, CASE WHEN NOT forgotten THEN state END, count(*) FROM gone GROUP BY 1, 3
)
SELECT id, state, queue_id, ${queueName('gone.queue_id')} AS queue, tries, flags, ${HOLDS} AS holds, ${freedFor('permit_freed')} AS freed, ${XID} FROM gone`

export const FINISH = finishStatement(false)
/** Finishes jobs of which some are forgotten. A separate statement, because it takes longer to plan. */
export const FINISH_FORGETTING = finishStatement(true)

/** One item of the parameter. The result is JSON text and is embedded unchanged. */
export function finishText(item: Finish, n: number): string {
  const { transition } = item
  const refund = refunds(transition) ? 1 : 0
  const result = transition.to === 'done' ? transition.result : null
  return (
    `{"n":${n},"id":"${item.id}","token":${item.token},"to_state":${STATE_CODE[transition.to]},"refund":${refund},` +
    `"delay_ms":${transition.to === 'scheduled' ? transition.delayMs : 0},` +
    `"outcome":${item.outcome === null ? 'null' : outcomeCode(item.outcome)}` +
    (item.error === undefined ? '' : `,"error":${JSON.stringify(item.error)}`) +
    (item.ranMs === undefined ? '' : `,"ran_ms":${Math.round(item.ranMs)}`) +
    (item.log === undefined ? '' : `,"log":${JSON.stringify(item.log)}`) +
    (transition.to === 'done' && transition.forget === true ? ',"forget":true' : '') +
    (result === null ? '}' : `,"has_result":true,"result":${result}}`)
  )
}

function refunds(transition: Transition): boolean {
  if (transition.to === 'ready') return true
  return (transition.to === 'scheduled' || transition.to === 'dead') && transition.refund === true
}
