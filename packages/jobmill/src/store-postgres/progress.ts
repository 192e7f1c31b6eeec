/** How far running attempts are. By the primary key of `running`, fenced by the token. */
import type { Progress } from '../store/finish.ts'
import { type Context, run } from './context.ts'
import { GIVEN } from './fragments.ts'

const PROGRESS = `
WITH ${GIVEN}, input AS (
  -- Of several notes on one attempt in one call the last one stands.
  SELECT DISTINCT ON (x.id, x.token) x.* FROM given, json_to_recordset(p -> 'items') AS x(n int4, id uuid, token int8, value json)
   ORDER BY x.id, x.token, x.n DESC
)
UPDATE jobmill.running AS r SET progress = coalesce(i.value, 'null'::json) FROM input AS i
 WHERE r.id = i.id AND r.token = i.token
RETURNING r.id, r.token`

export async function progress(context: Context, items: readonly Progress[]): Promise<boolean[]> {
  if (items.length === 0) return []
  const text = items.map(
    ({ id, token, value }, n) => `{"n":${n},"id":"${id}","token":${token},"value":${value}}`,
  )
  const rows = await run(context, context.connection.query, PROGRESS, `"items":[${text.join(',')}]`)
  const written = new Set(rows.map((row) => `${String(row['id'])} ${String(row['token'])}`))
  return items.map(({ id, token }) => written.has(`${id} ${token}`))
}
