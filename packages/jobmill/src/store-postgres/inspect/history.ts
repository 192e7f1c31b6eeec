/** Reads the attempts of a job and trims them to the newest. */
import { DEFAULTS } from '../../job/defaults.ts'
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import type { AttemptRecord } from '../../store/types/job-record.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'

/** Uses the primary key, in its order. */
const HISTORY = `
SELECT attempt, token, instance, started_at, ended_at, outcome, error, log
  FROM jobmill.attempt WHERE job_id = $1 ORDER BY token`

/** Reads the primary key backward and deletes everything older than the newest attempts. */
const TRIM = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, oldest_kept AS (
  SELECT input.id, (SELECT a.token FROM jobmill.attempt AS a WHERE a.job_id = input.id
                     ORDER BY a.token DESC OFFSET ${DEFAULTS.historyPerJob - 1} LIMIT 1) AS token
    FROM input
)
DELETE FROM jobmill.attempt AS a USING oldest_kept AS o WHERE a.job_id = o.id AND a.token < o.token`

export async function history(context: Context, id: string): Promise<AttemptRecord[]> {
  const rows = await context.connection.query(context.sql(HISTORY), [id])
  return rows.map((row) => ({
    attempt: row['attempt'] as number,
    token: row['token'] as number,
    instance: row['instance'] as string | null,
    startedAt: row['started_at'] as number | null,
    endedAt: row['ended_at'] as number,
    outcome: outcomeOfCode(row['outcome'] as number),
    error: row['error'] as string | null,
    log: row['log'] as string | null,
  }))
}

/** Deletes the attempts that exceed what the history keeps. */
export async function trimHistory(context: Context, query: Query, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await run(context, query, TRIM, `"ids":${JSON.stringify(ids)}`)
}
