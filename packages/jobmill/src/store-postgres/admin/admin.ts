/** Database tools for operators of a PostgreSQL store. */
import {
  type DatabaseAdmin,
  type DatabaseHealth,
  OPEN_FOR_MS,
  type SchemaStatus,
  type TableHealth,
} from '../../store/admin/admin.ts'
import { shorten } from '../../store/admin/amounts.ts'
import { schemaStatus } from '../../store/admin/schema-status.ts'
import { recordsOf } from '../connection/connection.ts'
import type { PostgresSettings } from '../options.ts'
import { appliedMigrations, schemaSql } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { pinning } from './check-horizon.ts'
import { replica } from './check-replica.ts'
import { create } from './create.ts'
import { diagnose } from './diagnose.ts'
import { drop } from './drop.ts'
import { ourTables } from './expected.ts'
import { type Site, withConnection, withConnectionIfThere } from './reach.ts'

/** `sql` rewrites a statement for the schema of the store. */
export function admin(settings: PostgresSettings, sql: (text: string) => string): DatabaseAdmin {
  const site: Site = { settings, schema: settings.schema, sql }
  return {
    schema: () => schema(site),
    schemaSql: () => schemaSql(sql),
    create: () => create(site),
    drop: () => drop(site),
    diagnose: (how) => diagnose(site, how),
    health: () => health(site),
    replica: async () =>
      settings.readUrl === null ? [] : withConnection(settings, ({ query }) => replica({ ...site, query })),
  }
}

async function schema(site: Site): Promise<SchemaStatus> {
  const applied = await withConnectionIfThere(site.settings, ({ query }) => appliedMigrations(query, site))
  return schemaStatus(applied, MIGRATIONS)
}

const SERVER = `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes`

/** Includes indexes and TOAST. */
const TABLES = `
SELECT s.relname AS name, pg_total_relation_size(s.relid) AS bytes, s.n_live_tup AS rows, s.n_dead_tup AS "deadRows"
  FROM pg_stat_user_tables AS s WHERE s.schemaname = $1 AND s.relname = ANY ($2) ORDER BY 2 DESC, 1`

async function health({ settings, schema }: Site): Promise<DatabaseHealth> {
  return withConnection(settings, async ({ query }) => {
    const [server] = await query(SERVER, [])
    const tables = recordsOf<TableHealth>(await query(TABLES, [schema, ourTables()]))
    const sessions = await pinning(query, OPEN_FOR_MS)
    return {
      // Drops the vendor suffix after the version number.
      server: `PostgreSQL ${String(server?.['version']).split(' ')[0]}`,
      sizeBytes: Number(server?.['bytes']),
      logBytes: null,
      tables,
      pinned: sessions.map(({ application: _, ...session }) => ({
        ...session,
        query: shorten(session.query),
      })),
    }
  })
}
