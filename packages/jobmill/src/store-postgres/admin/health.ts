/** How large a database is, by the counters of the server, and who holds it up. No table is read. */
import { shortened } from '../../store/amounts.ts'
import { type DatabaseHealth, OPEN_FOR_MS, type TableHealth } from '../../store/admin.ts'
import { pinning } from './check-horizon.ts'
import { ourTables } from './expected.ts'
import { connected, type Site } from './reach.ts'

const SERVER = `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes`

/** With indexes, and what was too large for a row. */
const TABLES = `
SELECT s.relname AS name, pg_total_relation_size(s.relid) AS bytes, s.n_live_tup AS rows, s.n_dead_tup AS "deadRows"
  FROM pg_stat_user_tables AS s WHERE s.schemaname = $1 AND s.relname = ANY ($2) ORDER BY 2 DESC, 1`

export async function health({ settings, schema }: Site): Promise<DatabaseHealth> {
  return connected(settings, async ({ query }) => {
    const [server] = await query(SERVER, [])
    const tables = await query(TABLES, [schema, ourTables()])
    const sessions = await pinning(query, OPEN_FOR_MS)
    return {
      // What follows the number says who built it.
      server: `PostgreSQL ${String(server?.['version']).split(' ')[0]}`,
      sizeBytes: Number(server?.['bytes']),
      logBytes: null,
      tables: tables as readonly unknown[] as readonly TableHealth[],
      pinned: sessions.map(({ pid, name, state, query: text, open_for: ageMs }) => ({
        pid,
        ageMs,
        user: name,
        state,
        query: shortened(text),
      })),
    }
  })
}
