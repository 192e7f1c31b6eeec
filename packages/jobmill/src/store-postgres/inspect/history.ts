/** Reads the attempts of a job and trims them to the newest. */
import { DEFAULTS } from '../../job/defaults.ts'
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import type { AttemptRecord } from '../../store/types/job-record.ts'
import type { Query } from '../connection/connection.ts'
import { askWith, type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { versionOf } from './versions.ts'

/** Uses the primary key, in its order. */
const HISTORY = `
SELECT attempt, token, instance, started_at AS "startedAt", ended_at AS "endedAt", outcome, error, log,
       ${versionOf('attempt.instance')} AS version
  FROM jobmill.attempt WHERE job_id = $1 ORDER BY token`

/** Reads the primary key backward and deletes everything older than the newest attempts. */
const TRIM = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, oldest_kept AS (
  SELECT input.id, (SELECT a.token FROM jobmill.attempt AS a WHERE a.job_id = input.id
                     ORDER BY a.token DESC OFFSET ${DEFAULTS.historyPerJob - 1} LIMIT 1) AS token
    FROM input
)
DELETE FROM jobmill.attempt AS a USING oldest_kept AS o WHERE a.job_id = o.id AND a.token < o.token`

type Coded = Omit<AttemptRecord, 'outcome'> & { readonly outcome: number }

export async function history(context: Context, id: string): Promise<AttemptRecord[]> {
  const rows = await askWith<Coded>(context, HISTORY, [id])
  return rows.map((row) => ({ ...row, outcome: outcomeOfCode(row.outcome) }))
}

/** Deletes the attempts that exceed what the history keeps. */
export async function trimHistory(context: Context, query: Query, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await run(context, query, TRIM, { ids })
}
