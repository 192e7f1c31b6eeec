/** Exports and imports held dedupe keys, whether or not their jobs still exist. */
import type { TransferredKey, Page } from '../../store/admin/transfer.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** Uses the primary key, in its order. */
const keysAfter = ({ after, limit }: Page<'keys'>): string => `
WITH ${GIVEN_CTE}
SELECT key, job_id, expires_at FROM jobmill.dedupe
 WHERE ${after === null ? 'true' : `key > (SELECT p ->> 'after' FROM given)`} ORDER BY key LIMIT ${limit}`

/** In the order of the keys, like every enqueue, to avoid deadlocks. */
const KEYS_IN = `
WITH ${GIVEN_CTE}, taken AS (
  INSERT INTO jobmill.dedupe (key, job_id, expires_at)
  SELECT x.key, x.job, x."expiresAt" FROM given, json_to_recordset(p -> 'keys') AS x(key text, job uuid, "expiresAt" int8) ORDER BY x.key
  ON CONFLICT (key) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS keys FROM taken`

export async function keysOut(context: Context, page: Page<'keys'>): Promise<TransferredKey[]> {
  const after = `"after":${JSON.stringify(page.after?.key ?? null)}`
  const rows = await run(context, context.connection.query, keysAfter(page), after)
  return rows.map((row) => ({
    key: row['key'] as string,
    job: row['job_id'] as string,
    expiresAt: row['expires_at'] as number | null,
  }))
}

export async function keysIn(context: Context, keys: readonly TransferredKey[]): Promise<number> {
  const [row] = await run(context, context.connection.query, KEYS_IN, `"keys":${JSON.stringify(keys)}`)
  return Number(row?.['keys'])
}
