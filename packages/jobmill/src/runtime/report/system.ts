/** `mill.system()`: versions, database health, migrations, duties and store latency. */
import { BOUNDS } from '../../job/defaults.ts'
import { mergeData, type MetricData } from '../../job/metric-data.ts'
import { VERSION } from '../../job/payload/version.ts'
import { instanceScope } from '../../observe/scopes.ts'
import { STORE_CLASSES } from '../../observe/store-timings.ts'
import type { DatabaseHealth, SchemaStatus } from '../../store/admin/admin.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { FullStore } from '../../store/store.ts'
import type { StoreTools } from '../../store/admin/tools.ts'
import { periodsOf } from '../diagnose/scene.ts'
import type { Resolved } from '../options/options.ts'
import { type Percentiles, percentiles, recordOf } from './series.ts'
import type { DutyView } from '../operate/duty-control.ts'

interface SystemDuty extends DutyView {
  /** The period. Null for a duty without one, or unknown to this process. */
  readonly everyMs: number | null
}

interface SystemView {
  readonly store: string
  /** The versions of jobmill and Node. */
  readonly version: string
  readonly node: string
  /** When this process started working. Null when it is not started. */
  readonly startedAt: number | null
  /** Null for a store without tools. */
  readonly database: DatabaseHealth | null
  /** Null for a store without tools and for an in-memory store. */
  readonly migrations: Omit<SchemaStatus, 'isThere'> | null
  readonly duties: readonly SystemDuty[]
  /** Store latency in the last hour, as all processes measured it. */
  readonly storeTimings: Readonly<Record<(typeof STORE_CLASSES)[number], Percentiles>>
}

export interface System {
  system(): Promise<SystemView>
}

export interface SystemTools {
  readonly opened: () => Promise<FullStore>
  readonly options: Pick<Resolved, 'retain' | 'duties' | 'platform'>
  readonly duties: () => Promise<readonly DutyView[]>
  /** The id of this instance. */
  readonly instance: () => string
  readonly tools: Pick<StoreTools, 'schema' | 'health'> | null
}

const [, MINUTE, HOUR] = RESOLUTIONS

export function system(given: SystemTools): System {
  const { opened, options, tools } = given
  return {
    async system() {
      const store = await opened()
      const [database, schema, duties, instances] = await Promise.all([
        tools?.health() ?? null,
        tools?.schema() ?? null,
        given.duties(),
        store.instances.list(),
      ])
      const periods = periodsOf(options)
      const { isThere = false, ...migrations } = schema ?? {}
      return {
        store: store.name,
        version: VERSION,
        node: process.version,
        startedAt: instances.find(({ id }) => id === given.instance())?.startedAt ?? null,
        database,
        migrations: isThere ? (migrations as Omit<SchemaStatus, 'isThere'>) : null,
        duties: duties.map((duty) => ({
          ...duty,
          everyMs: duty.here?.everyMs ?? periods.get(duty.name) ?? null,
        })),
        // Stopped instances are kept for an hour, which is the window of this query.
        storeTimings: await timings(
          store,
          instances.map(({ id }) => id),
          options.platform.now(),
        ),
      }
    },
  }
}

async function timings(
  store: FullStore,
  instances: readonly string[],
  now: number,
): Promise<SystemView['storeTimings']> {
  const from = Math.max(0, now - HOUR)
  const records = await store.metrics.read({
    scopes: instances.map(instanceScope),
    resolution: MINUTE,
    from: from - (from % MINUTE),
    before: BOUNDS.lastInstantAt,
  })
  const all = records.reduce<MetricData>((sum, { data }) => mergeData(sum, data), {})
  return recordOf(STORE_CLASSES, (name) => percentiles(all, `store.${name}`))
}
