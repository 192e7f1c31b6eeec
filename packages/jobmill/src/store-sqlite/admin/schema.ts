/** The migrations that a file has. */
import type { SchemaStatus } from '../../store/admin/admin.ts'
import { schemaStatus } from '../../store/admin/schema-status.ts'
import type { StoreSettings } from '../live.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { isFileThere, lookInto } from './reach.ts'

export async function schema(settings: StoreSettings): Promise<SchemaStatus> {
  const applied = isFileThere(settings) ? await lookInto(settings, appliedMigrations) : null
  return schemaStatus(applied, MIGRATIONS)
}
