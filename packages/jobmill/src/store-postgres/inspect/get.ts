/** Reads complete jobs, and the states and results of awaited jobs, by id. */
import type { JobRecord, JobResult } from '../../store/types/job-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { type Coded, decode, inOrder, statesOf, SUMMARY_COLUMNS, SUMMARY_JOINS } from './job-rows.ts'

const GET = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT ${SUMMARY_COLUMNS}, j.payload, j.metadata, j.timeout_ms AS "timeoutMs", j.dedupe_key AS "dedupeKey", ru.progress, ru.log, a.error,
       CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result
  FROM (SELECT DISTINCT id FROM input) AS w ${SUMMARY_JOINS}`

const RESULTS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
${statesOf('SELECT DISTINCT id FROM input', ', a.error, CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result')}`

export async function get(context: Context, ids: readonly string[]): Promise<(JobRecord | null)[]> {
  if (ids.length === 0) return []
  return inOrder(ids, (await ask<Coded<JobRecord>>(context, GET, { ids })).map(decode))
}

export async function results(context: Context, ids: readonly string[]): Promise<(JobResult | null)[]> {
  if (ids.length === 0) return []
  return inOrder(ids, (await ask<Coded<JobResult>>(context, RESULTS, { ids })).map(decode))
}
