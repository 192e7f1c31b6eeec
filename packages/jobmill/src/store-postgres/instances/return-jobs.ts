/**
 * SQL fragments for jobs that leave `running` without a finish, because their instance stopped or was lost.
 * The statement defines `gone` (rows of running with `state` and `crashes_now`) and `recorded` (the jobs that
 * get an attempt record, with its `outcome`).
 */
import { crashErrorSql } from '../../job/attempt/crash.ts'
import { STATE_CODE } from '../../job/state.ts'
import { FREED, NOW, PERMITS_FREED, WITHOUT_PERMIT } from '../fragments.ts'

const { ready, running, cancelled, done } = STATE_CODE

const ERROR = `CASE WHEN state = ${cancelled} THEN cancel_reason ELSE ${crashErrorSql('crashes_now')} END`

/** The jobs keep their place in the order, and the attempt is refunded. */
export const RETURN_JOBS = `to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, seq, id, ready_at, kind_id, tries, greatest(attempt - 1, 0), crashes_now, ${WITHOUT_PERMIT}
    FROM gone WHERE state = ${ready}
), attempts AS (
  INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes,
                               outcome, ended_as, tries, taken_back, error, log)
  SELECT id, token, instance, started_at, ${NOW}, queue_id, attempt, greatest(attempt - 1, 0), crashes_now, outcome,
         CASE WHEN state >= ${done} THEN state END, tries, true,
         ${ERROR}, log
    FROM recorded
), ended AS (
  SELECT id, state, flags, NULL::json AS result, ${ERROR} AS error FROM gone WHERE state >= ${done}
), ${FREED}, ${PERMITS_FREED}, tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${running}, state, count(*) FROM gone GROUP BY 1, 3
)`
