/** What an operator asks of a file. */
import type { Keeping } from '../../store/keeping.ts'
import type { Resources } from '../../store/resources.ts'
import type { StoreSettings } from '../live.ts'
import { create } from './create.ts'
import { drop } from './drop.ts'
import { examine } from './examine.ts'
import { health } from './health.ts'
import { resources } from './resources.ts'
import { schema } from './schema.ts'

export function keeping(settings: StoreSettings): Keeping & Resources {
  return {
    schema: () => schema(settings),
    create: () => create(settings),
    drop: () => drop(settings),
    examine: () => examine(settings),
    health: () => health(settings),
    resources: () => resources(settings),
  }
}
