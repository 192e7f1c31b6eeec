/** Sizes and connections from the server's counters, on a connection of the store. */
import type { DatabaseResources } from '../../store/admin/resources.ts'
import { askWith, type Context } from '../context.ts'

/** Every role may read `numbackends`, but not the list of sessions. */
const SERVER = `
SELECT pg_database_size(current_database()) AS bytes,
       (SELECT sum(numbackends) FROM pg_stat_database) AS connections,
       current_setting('max_connections')::int4 AS most,
       has_function_privilege('pg_ls_waldir()', 'EXECUTE') AS reads_wal`

/** A separate statement: the server checks the privilege even if a condition would skip the call. */
const WAL = `SELECT coalesce(sum(size), 0) AS bytes FROM pg_ls_waldir()`

export async function resources(context: Context): Promise<DatabaseResources> {
  const pool = context.connection.usage()
  const [server] = await askWith(context, SERVER)
  const [wal] = server?.['reads_wal'] === true ? await askWith(context, WAL) : []
  return {
    sizeBytes: Number(server?.['bytes']),
    walBytes: wal === undefined ? null : Number(wal['bytes']),
    disk: null,
    pool,
    server: { connections: Number(server?.['connections']), most: Number(server?.['most']) },
  }
}
