/** What an operator asks of a database on a server. */
import type { DatabaseAdmin } from '../../store/admin.ts'
import type { PostgresSettings } from '../options.ts'
import { create } from './create.ts'
import { drop } from './drop.ts'
import { diagnose } from './diagnose.ts'
import { health } from './health.ts'
import type { Site } from './reach.ts'
import { schema } from './schema.ts'

/** `sql` puts a statement into the schema. */
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
