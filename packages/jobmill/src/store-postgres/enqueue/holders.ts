/** The jobs that hold dedupe keys, read by the primary key of `dedupe` in one snapshot without locks. */
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

const HOLDERS = `
WITH ${GIVEN_CTE}
SELECT d.key, d.job_id
  FROM given, json_array_elements_text(p -> 'keys') AS v(key), jobmill.dedupe AS d
 WHERE d.key = v.key AND (d.expires_at IS NULL OR d.expires_at > given.now)`

export async function holders(context: Context, keys: readonly string[]): Promise<(string | null)[]> {
  if (keys.length === 0) return []
  const rows = await run(context, context.connection.query, HOLDERS, `"keys":${JSON.stringify(keys)}`)
  const found = new Map(rows.map((row) => [row['key'] as string, row['job_id'] as string]))
  return keys.map((key) => found.get(key) ?? null)
}
