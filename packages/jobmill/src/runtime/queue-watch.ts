/**
 * The live settings of queues as this process knows them: read when the pulse says that they changed, and kept as they are when they cannot be read. From
 * them follows how many workers it runs for each queue that it serves.
 */
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../job/queue-settings.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { InstanceRecord } from '../store/instance.ts'
import type { QueueRecord } from '../store/queue-record.ts'
import type { ReadSide } from '../store/store.ts'

export interface QueueWatch {
  readonly settings: (queue: string) => QueueSettings
  /** Of this instance, for each queue that it serves. */
  readonly workers: () => ReadonlyMap<string, number>
  /** The pulse brought this version of the settings. */
  readonly heard: (version: number) => void
  /** Reads again, whatever is known. */
  readonly refresh: () => Promise<void>
  /** Counts again who else serves the queues; costs nothing when no queue has a total to share. */
  readonly refreshShares: () => Promise<void>
  readonly stop: () => void
}

export interface QueueWatchOptions {
  readonly store: Pick<ReadSide, 'queues' | 'instances'>
  readonly served: () => readonly string[]
  readonly platform: Platform
  readonly emit: Emit
  /** There may be something to claim that could not be claimed before. */
  readonly changed: () => void
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export function queueWatch(options: QueueWatchOptions): QueueWatch {
  const { store, platform, emit } = options
  let known = new Map<string, QueueRecord>()
  let sharing = new Map<string, number>()
  let workers: ReadonlyMap<string, number> = new Map()
  let version: number | null = null
  let asked = 0
  let reading: Promise<void> | null = null
  const cooling = new Map<string, Timer>()

  /** One read at a time: of two, the older could answer last and stand. Asked for meanwhile, it reads once more. */
  function refresh(): Promise<void> {
    asked += 1
    reading ??= readUntilNewest()
    return reading
  }

  async function readUntilNewest(): Promise<void> {
    try {
      for (let seen = -1; seen !== asked;) {
        seen = asked
        await read()
      }
    } finally {
      // In the same step as the last look, so that nobody can ask in between and be forgotten.
      reading = null
    }
  }

  async function read(): Promise<void> {
    const records = await store.queues()
    const before = known
    known = new Map(records.map((record) => [record.name, record]))
    await refreshShares()
    for (const record of records) tell(before.get(record.name), record)
    options.changed()
  }

  async function refreshShares(): Promise<void> {
    const served = options.served()
    const isShared = served.some((queue) => (known.get(queue)?.workers ?? null) !== null)
    const instances = isShared ? await store.instances() : []
    sharing = new Map(served.map((queue) => [queue, servers(instances, queue)]))
    workers = new Map(served.map((queue) => [queue, workersFor(queue)]))
  }

  /** Without an assignment an instance takes its share, rounded up, of those alive that serve the queue. */
  function workersFor(queue: string): number {
    const { workers: total, paused } = known.get(queue) ?? DEFAULT_QUEUE_SETTINGS
    if (paused) return 0
    return total === null ? DEFAULTS.workers : Math.ceil(total / Math.max(1, sharing.get(queue) ?? 1))
  }

  function tell(before: QueueRecord | undefined, now: QueueRecord): void {
    if (before !== undefined && SETTINGS.some((key) => before[key] !== now[key]))
      emit('queue-changed', { queue: now.name })
    if (now.coolingMs > 0) cools(now.name, now.coolingMs)
    else if (cooling.has(now.name)) resumed(now.name)
  }

  function cools(queue: string, forMs: number): void {
    const isNews = !cooling.has(queue)
    cooling.get(queue)?.cancel()
    cooling.set(
      queue,
      platform.timer(forMs, () => resumed(queue)),
    )
    if (isNews) emit('queue-cooling', { queue, forMs })
  }

  function resumed(queue: string): void {
    cooling.get(queue)?.cancel()
    cooling.delete(queue)
    emit('queue-resumed', { queue })
    options.changed()
  }

  return {
    settings: (queue) => known.get(queue) ?? DEFAULT_QUEUE_SETTINGS,
    workers: () => workers,
    heard(next) {
      if (next === version) return
      // Also the first time: they may have changed since they were read at the start.
      version = next
      refresh().then(options.working, (error: unknown) => {
        // Asked again with the next pulse; until then the last known ones stand.
        version = Number.NaN
        options.failing(error)
      })
    },
    refresh,
    refreshShares,
    stop() {
      for (const timer of cooling.values()) timer.cancel()
      cooling.clear()
    },
  }
}

const SETTINGS = Object.keys(DEFAULT_QUEUE_SETTINGS) as (keyof QueueSettings)[]

function servers(instances: readonly InstanceRecord[], queue: string): number {
  return instances.filter(({ state, queues }) => state === 'alive' && queues.includes(queue)).length
}
