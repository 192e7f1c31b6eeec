/** Reads the applied migrations of a database. */
import type { SchemaStatus } from '../../store/admin/admin.ts'
import { schemaStatus } from '../../store/admin/schema-status.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { withConnectionIfThere, type Site } from './reach.ts'

export async function schema(site: Site): Promise<SchemaStatus> {
  const applied = await withConnectionIfThere(site.settings, ({ query }) => appliedMigrations(query, site))
  return schemaStatus(applied, MIGRATIONS)
}
