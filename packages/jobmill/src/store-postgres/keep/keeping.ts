/** What an operator asks of a database on a server. */
import type { Keeping } from '../../store/keeping.ts'
import type { PostgresSettings } from '../options.ts'
import { create } from './create.ts'
import { drop } from './drop.ts'
import { examine } from './examine.ts'
import { health } from './health.ts'
import type { Site } from './reach.ts'
import { schema } from './schema.ts'

/** `sql` puts a statement into the schema. */
export function keeping(settings: PostgresSettings, sql: (text: string) => string): Keeping {
  const site: Site = { settings, schema: settings.schema, sql }
  return {
    schema: () => schema(site),
    create: () => create(site),
    drop: () => drop(site),
    examine: (how) => examine(site, how),
    health: () => health(site),
  }
}
