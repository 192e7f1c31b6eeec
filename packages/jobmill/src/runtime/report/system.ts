/** `mill.system()`: versions, database health, migrations, duties and store latency. */
import { BOUNDS } from '../../job/defaults.ts'
import { VERSION } from '../../job/payload/version.ts'
import { instanceScope } from '../../observe/scopes.ts'
import { STORE_CLASSES } from '../../observe/store-timings.ts'
import type { DatabaseHealth, SchemaStatus } from '../../store/admin/admin.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { FullStore } from '../../store/store.ts'
import { periodsOf } from '../diagnose/scene.ts'
import type { MillTools } from '../tools.ts'
import { mergeAll, type Percentiles, percentiles, recordOf } from './series.ts'
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

const [, MINUTE, , HOUR] = RESOLUTIONS

export function system(
  { opened, options, instance, storeTools: tools }: MillTools,
  readDuties: () => Promise<readonly DutyView[]>,
): System {
  return {
    async system() {
      const store = await opened()
      const [database, schema, duties, instances] = await Promise.all([
        tools?.health() ?? null,
        tools?.schema() ?? null,
        readDuties(),
        store.instances.list(),
      ])
      const periods = periodsOf(options)
      const { isThere = false, ...migrations } = schema ?? {}
      return {
        store: store.name,
        version: VERSION,
        node: process.version,
        startedAt: instances.find(({ id }) => id === instance().id)?.startedAt ?? null,
        database,
        migrations: isThere ? (migrations as Omit<SchemaStatus, 'isThere'>) : null,
        duties: duties.map((duty) => ({
          ...duty,
          everyMs: duty.here?.everyMs ?? periods.get(duty.name) ?? null,
        })),
        // Stopped instances are kept for an hour, which is the window of this query.
        storeTimings: await timings(store, instances, options.platform.now()),
      }
    },
  }
}

async function timings(
  store: FullStore,
  instances: readonly InstanceRecord[],
  now: number,
): Promise<SystemView['storeTimings']> {
  const from = Math.max(0, now - HOUR)
  const query = {
    scopes: instances.map(({ id }) => instanceScope(id)),
    resolution: MINUTE,
    from: from - (from % MINUTE),
    before: BOUNDS.lastInstantAt,
  }
  const records = await store.metrics.read(query, MAY_LAG)
  const all = mergeAll(records)
  return recordOf(STORE_CLASSES, (name) => percentiles(all, `store.${name}`))
}
