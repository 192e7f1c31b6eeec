/** Size of the database and sessions that block cleanup, from the server's counters. Reads no table. */
import { shorten } from '../../store/admin/amounts.ts'
import { type DatabaseHealth, OPEN_FOR_MS, type TableHealth } from '../../store/admin/admin.ts'
import { pinning } from './check-horizon.ts'
import { ourTables } from './expected.ts'
import { withConnection, type Site } from './reach.ts'

const SERVER = `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes`

/** Includes indexes and TOAST. */
const TABLES = `
SELECT s.relname AS name, pg_total_relation_size(s.relid) AS bytes, s.n_live_tup AS rows, s.n_dead_tup AS "deadRows"
  FROM pg_stat_user_tables AS s WHERE s.schemaname = $1 AND s.relname = ANY ($2) ORDER BY 2 DESC, 1`

export async function health({ settings, schema }: Site): Promise<DatabaseHealth> {
  return withConnection(settings, async ({ query }) => {
    const [server] = await query(SERVER, [])
    const tables = await query(TABLES, [schema, ourTables()])
    const sessions = await pinning(query, OPEN_FOR_MS)
    return {
      // Drops the vendor suffix after the version number.
      server: `PostgreSQL ${String(server?.['version']).split(' ')[0]}`,
      sizeBytes: Number(server?.['bytes']),
      logBytes: null,
      tables: tables as readonly unknown[] as readonly TableHealth[],
      pinned: sessions.map(({ pid, name, state, query: text, open_for: ageMs }) => ({
        pid,
        ageMs,
        user: name,
        state,
        query: shorten(text),
      })),
    }
  })
}
