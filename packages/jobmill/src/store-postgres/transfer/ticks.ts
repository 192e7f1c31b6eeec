/** Exports and imports served instants, so that the target database does not serve them again. */
import type { TransferredTick, Page } from '../../store/admin/transfer.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** Uses the primary key, in its order. */
const ticksAfter = ({ after, limit }: Page<'ticks'>): string => `
WITH ${GIVEN_CTE}
SELECT schedule, at, outcome, job_id, served_at FROM jobmill.tick
 WHERE ${after === null ? 'true' : `(schedule, at) > ((SELECT p ->> 'schedule' FROM given), (SELECT (p ->> 'at')::int8 FROM given))`}
 ORDER BY schedule, at LIMIT ${limit}`

const TICKS_IN = `
WITH ${GIVEN_CTE}, served AS (
  INSERT INTO jobmill.tick (schedule, at, outcome, job_id, served_at)
  SELECT x.schedule, x.at, x.outcome, x.job, x."servedAt"
    FROM given, json_to_recordset(p -> 'ticks') AS x(schedule text, at int8, outcome text, job uuid, "servedAt" int8) ORDER BY 1, 2
  ON CONFLICT (schedule, at) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS ticks FROM served`

export async function ticksOut(context: Context, page: Page<'ticks'>): Promise<TransferredTick[]> {
  const { schedule = null, at = null } = page.after ?? {}
  const after = JSON.stringify({ schedule, at }).slice(1, -1)
  const rows = await run(context, context.connection.query, ticksAfter(page), after)
  return rows.map((row) => ({
    schedule: row['schedule'] as string,
    at: row['at'] as number,
    outcome: row['outcome'] as TransferredTick['outcome'],
    job: row['job_id'] as string,
    servedAt: row['served_at'] as number,
  }))
}

export async function ticksIn(context: Context, ticks: readonly TransferredTick[]): Promise<number> {
  const [row] = await run(context, context.connection.query, TICKS_IN, `"ticks":${JSON.stringify(ticks)}`)
  return Number(row?.['ticks'])
}
