/**
 * `mill.prometheus()`: counters of this process, gauges of the store and metrics of the application. The cost
 * of a scrape does not depend on the number of jobs, and a scrape succeeds even if the store does not answer.
 */
import type { EventCounts } from '../../observe/event-hub.ts'
import { dutyFamilies } from '../../observe/prometheus/of-duties.ts'
import { processFamilies } from '../../observe/prometheus/of-process.ts'
import { queueFamilies } from '../../observe/prometheus/of-queues.ts'
import { resourceFamilies, storeFamilies, type StoreView } from '../../observe/prometheus/of-store.ts'
import type { CustomMetricTools } from '../../observe/prometheus/custom-metrics.ts'
import { exposition } from '../../observe/prometheus/text.ts'
import { newTally } from '../../observe/tally.ts'
import { systemUsage } from '../../platform/gauges.ts'
import { within } from '../../platform/within.ts'
import type { DutyRecord } from '../../store/types/duty.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { DatabaseResources } from '../../store/admin/resources.ts'
import type { MillTools } from '../tools.ts'
import type { ReadDatabaseResources } from './resources.ts'

interface PrometheusTools extends Omit<MillTools, 'store'> {
  readonly events: EventCounts
  /** Metrics that the application registered. */
  readonly own: Pick<CustomMetricTools, 'families'>
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
  const { opened, platform, observer, lifecycle } = tools
  let reading: Promise<Reading> | null = null

  /**
   * Leaves out `unservedKinds`: it scans up to 10,000 jobs of each queue, which took PostgreSQL 0.5 s with a
   * million jobs in ten queues. The other reads take 1 to 2 ms.
   */
  async function read(): Promise<Reading> {
    const store = await opened()
    const [counts, queues, instances, limits, duties, resources] = await Promise.all([
      orNull(store.counts(MAY_LAG)),
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
    const names = lifecycle.engine?.served ?? tools.options.serve
    const served = names.map((queue) => [queue, newTally()] as const)
    return exposition([
      ...processFamilies({
        totals,
        events: tools.events,
        workers: lifecycle.engine?.workers() ?? [],
        usage: systemUsage(),
        info: {
          version: tools.options.instance.version ?? '',
          instance: id,
          label: label ?? '',
          store: tools.store,
        },
        isStoreUp: Object.values(seen).every((part) => part !== null),
      }),
      ...queueFamilies(new Map([...served, ...queues])),
      ...dutyFamilies(lifecycle.engine?.duties() ?? [], seen.duties, platform.now()),
      ...storeFamilies(seen),
      ...resourceFamilies(seen.resources ?? null),
      ...own,
    ])
  }
}

function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch(() => null)
}
