/** Reads complete jobs by id. */
import type { JobRecord } from '../../store/types/job-record.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { SUMMARY_COLUMNS, SUMMARY_JOINS, summaryOf } from './job-rows.ts'
import { idsField } from '../operate/states.ts'

const GET = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT ${SUMMARY_COLUMNS}, j.payload, j.metadata, j.timeout_ms, j.dedupe_key, ru.progress, ru.log, a.error,
       CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result
  FROM (SELECT DISTINCT id FROM input) AS w ${SUMMARY_JOINS}`

export async function get(context: Context, ids: readonly string[]): Promise<(JobRecord | null)[]> {
  if (ids.length === 0) return []
  const rows = await run(context, context.connection.query, GET, idsField(ids))
  const found = new Map(
    rows.map((row): [string, JobRecord] => [
      row['id'] as string,
      {
        ...summaryOf(row),
        payload: row['payload'] as string,
        metadata: row['metadata'] as string | null,
        result: row['result'] as string | null,
        progress: row['progress'] as string | null,
        log: row['log'] as string | null,
        error: row['error'] as string | null,
        timeoutMs: row['timeout_ms'] as number | null,
        dedupeKey: row['dedupe_key'] as string | null,
      },
    ]),
  )
  return ids.map((id) => found.get(id) ?? null)
}
