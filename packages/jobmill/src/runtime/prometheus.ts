/**
 * `mill.prometheus()`: what this process counted since its start, how the store stands, and figures of the application's, as text for Prometheus. A scrape reads little, whatever the
 * store holds, and answers also when the store does not.
 */
import type { InstanceInfo } from '../job/context.ts'
import type { EventCounts } from '../observe/event-hub.ts'
import type { Observer } from '../observe/observer.ts'
import { dutyFamilies } from '../observe/prometheus/of-duties.ts'
import { processFamilies } from '../observe/prometheus/of-process.ts'
import { queueFamilies } from '../observe/prometheus/of-queues.ts'
import { resourceFamilies } from '../observe/prometheus/of-resources.ts'
import { storeFamilies, type StoreView } from '../observe/prometheus/of-store.ts'
import type { CustomMetricTools } from '../observe/prometheus/custom-metrics.ts'
import { exposition } from '../observe/prometheus/text.ts'
import { newTally } from '../observe/tally.ts'
import { systemUsage } from '../platform/gauges.ts'
import type { Platform } from '../platform/platform.ts'
import { within } from '../platform/within.ts'
import type { DutyRecord } from '../store/duty.ts'
import type { DatabaseResources } from '../store/resources.ts'
import type { Store } from '../store/store.ts'
import type { Engine } from './engine.ts'
import type { ReadDatabaseResources } from './resources.ts'

export interface PrometheusTools {
  /** Opens it when that did not happen yet. */
  readonly opened: () => Promise<Store>
  readonly platform: Platform
  readonly observer: Pick<Observer, 'totals'>
  readonly events: EventCounts
  /** Of the application's. */
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
  /** Undefined for a store that knows none. */
  readonly resources: DatabaseResources | null | undefined
}

/** Prometheus gives up after 10 s unless told otherwise, and then has nothing at all. */
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

  /** Not `unserved`: it looks at up to 10,000 jobs of each queue, which took PostgreSQL half a second with a million jobs in ten queues. The others take 1 ms or 2. */
  async function read(): Promise<Reading> {
    const store = await opened()
    const [counts, queues, instances, limits, duties, resources] = await Promise.all([
      orNull(store.counts()),
      orNull(store.queues()),
      orNull(store.instances()),
      orNull(store.limits()),
      orNull(store.duties()),
      orNull(tools.resources().then((known) => known ?? undefined)),
    ])
    return { counts, queues, instances, limits, duties, resources }
  }

  /** Scrapes that come at the same time share one, and none is begun beside one that hangs. */
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
