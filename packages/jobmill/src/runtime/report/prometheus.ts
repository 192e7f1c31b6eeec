/**
 * `mill.prometheus()`: counters of this process, gauges of the store and metrics of the application. A scrape
 * reads little, whatever the store holds, and answers even when the store does not.
 */
import type { InstanceInfo } from '../../job/context.ts'
import type { EventCounts } from '../../observe/event-hub.ts'
import type { Observer } from '../../observe/observer.ts'
import { dutyFamilies } from '../../observe/prometheus/of-duties.ts'
import { processFamilies } from '../../observe/prometheus/of-process.ts'
import { queueFamilies } from '../../observe/prometheus/of-queues.ts'
import { resourceFamilies } from '../../observe/prometheus/of-resources.ts'
import { storeFamilies, type StoreView } from '../../observe/prometheus/of-store.ts'
import type { CustomMetricTools } from '../../observe/prometheus/custom-metrics.ts'
import { exposition } from '../../observe/prometheus/text.ts'
import { newTally } from '../../observe/tally.ts'
import { systemUsage } from '../../platform/gauges.ts'
import type { Platform } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import type { DutyRecord } from '../../store/types/duty.ts'
import type { DatabaseResources } from '../../store/admin/resources.ts'
import type { FullStore } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import type { ReadDatabaseResources } from './resources.ts'

export interface PrometheusTools {
  /** Opens the store if it is not open yet. */
  readonly opened: () => Promise<FullStore>
  readonly platform: Platform
  readonly observer: Pick<Observer, 'totals'>
  readonly events: EventCounts
  /** Metrics that the application registered. */
  readonly own: Pick<CustomMetricTools, 'families'>
  readonly engine: () => Pick<Engine, 'workers' | 'duties'> | null
  /** The queues that this process works on. */
  readonly served: () => readonly string[]
  readonly instance: () => InstanceInfo
  readonly version: string | null
  readonly resources: ReadDatabaseResources
  /** The name of the store. */
  readonly store: string
}

interface Reading extends StoreView {
  readonly duties: readonly DutyRecord[] | null
  /** Undefined for a store without this information. */
  readonly resources: DatabaseResources | null | undefined
}

/** Prometheus times out after 10 s by default and would then get nothing. */
const READ_MS = 5_000

const NOTHING: Reading = {
  counts: null,
  queues: null,
  instances: null,
  limits: null,
  duties: null,
  resources: null,
}

export function prometheus(tools: PrometheusTools): () => Promise<string> {
  const { opened, platform, observer } = tools
  let reading: Promise<Reading> | null = null

  /**
   * Leaves out `unservedKinds`: it scans up to 10,000 jobs of each queue, which took PostgreSQL 0.5 s with a
   * million jobs in ten queues. The other reads take 1 to 2 ms.
   */
  async function read(): Promise<Reading> {
    const store = await opened()
    const [counts, queues, instances, limits, duties, resources] = await Promise.all([
      orNull(store.counts()),
      orNull(store.queues.list()),
      orNull(store.instances.list()),
      orNull(store.limits.list()),
      orNull(store.instances.duties()),
      orNull(tools.resources().then((known) => known ?? undefined)),
    ])
    return { counts, queues, instances, limits, duties, resources }
  }

  /** Concurrent scrapes share one read, and a read that hangs is not started again. */
  function readOnce(): Promise<Reading> {
    reading ??= read().finally(() => (reading = null))
    return reading
  }

  return async () => {
    const [seen, own] = await Promise.all([
      within(platform, READ_MS, 'the scrape', readOnce()).catch(() => NOTHING),
      tools.own.families(READ_MS),
    ])
    const { queues, ...totals } = observer.totals()
    const { id, label } = tools.instance()
    const served = tools.served().map((queue) => [queue, newTally()] as const)
    return exposition([
      ...processFamilies({
        totals,
        events: tools.events,
        workers: tools.engine()?.workers() ?? [],
        usage: systemUsage(),
        info: { version: tools.version ?? '', instance: id, label: label ?? '', store: tools.store },
        isStoreUp: Object.values(seen).every((part) => part !== null),
      }),
      ...queueFamilies(new Map([...served, ...queues])),
      ...dutyFamilies(tools.engine()?.duties() ?? [], seen.duties, platform.now()),
      ...storeFamilies(seen),
      ...resourceFamilies(seen.resources ?? null),
      ...own,
    ])
  }
}

function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch(() => null)
}
