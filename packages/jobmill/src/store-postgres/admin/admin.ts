/** Database tools for operators of a PostgreSQL store. */
import type { DatabaseAdmin } from '../../store/admin/admin.ts'
import type { PostgresSettings } from '../options.ts'
import { create } from './create.ts'
import { drop } from './drop.ts'
import { diagnose } from './diagnose.ts'
import { health } from './health.ts'
import type { Site } from './reach.ts'
import { schema } from './schema.ts'

/** `sql` rewrites a statement for the schema of the store. */
export function admin(settings: PostgresSettings, sql: (text: string) => string): DatabaseAdmin {
  const site: Site = { settings, schema: settings.schema, sql }
  return {
    schema: () => schema(site),
    create: () => create(site),
    drop: () => drop(site),
    diagnose: (how) => diagnose(site, how),
    health: () => health(site),
  }
}
