/** The database tools for a SQLite file. */
import type { DatabaseAdmin } from '../../store/admin/admin.ts'
import type { Resources } from '../../store/admin/resources.ts'
import type { StoreSettings } from '../live.ts'
import { create } from './create.ts'
import { drop } from './drop.ts'
import { diagnose } from './diagnose.ts'
import { health } from './health.ts'
import { resources } from './resources.ts'
import { schema } from './schema.ts'

export function admin(settings: StoreSettings): DatabaseAdmin & Resources {
  return {
    schema: () => schema(settings),
    create: () => create(settings),
    drop: () => drop(settings),
    diagnose: () => diagnose(settings),
    health: () => health(settings),
    resources: () => resources(settings),
  }
}
