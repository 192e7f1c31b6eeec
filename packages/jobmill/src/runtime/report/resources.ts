/**
 * `mill.resources()`: the space that the database uses and has, and the resources of this process. Cheap
 * enough to poll every few seconds.
 */
import { type GaugeReading, systemUsage, type Usage } from '../../platform/gauges.ts'
import { cache } from '../../platform/cache.ts'
import type { DatabaseResources } from '../../store/admin/resources.ts'
import type { MillTools } from '../tools.ts'

export interface ResourcesView {
  /**
   * When the process values were read, by the clock of the process. The database values are at most 5 s
   * older.
   */
  readonly at: number
  /** Null for a store without tools. */
  readonly database: DatabaseResources | null
  /** The process that answers. `loopLagMs` is null during its first 10 s. */
  readonly process: Usage & { readonly loopLagMs: GaugeReading['loopLagMs'] | null }
}

export interface ResourceReads {
  resources(): Promise<ResourcesView>
}

/** PostgreSQL computes the size from its files, which is too expensive for every scrape and refresh. */
const REMEMBERED_MS = 5_000

export type ReadDatabaseResources = () => Promise<DatabaseResources | null>

export function databaseResources({ opened, platform, storeTools: tools }: MillTools): ReadDatabaseResources {
  return cache(platform, REMEMBERED_MS, async () => {
    await opened()
    return (await tools?.resources()) ?? null
  })
}

export function resources({ platform, observer }: MillTools, database: ReadDatabaseResources): ResourceReads {
  return {
    resources: async () => ({
      database: await database(),
      at: platform.now(),
      process: { ...systemUsage(), loopLagMs: observer.totals().loopLagMs },
    }),
  }
}
