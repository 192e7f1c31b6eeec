/**
 * Keeps a live copy of queue settings, refreshed when a heartbeat reports a change and kept when a read
 * fails. Derives how many workers this process runs for each queue.
 */
import type { DispatchSettings } from '../dispatch/state.ts'
import type { Trouble } from '../job/attempt/trouble.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import type { LimitSettings } from '../job/limit/limit.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../job/queue/queue-settings.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import { type InstanceRecord, isClaiming, type Heartbeat } from '../store/types/instance.ts'
import type { QueueRecord } from '../store/types/queue-record.ts'
import type { FullStore } from '../store/store.ts'
import { wantedSlots } from '../upkeep/rebalance.ts'

interface QueueWatchOptions extends Trouble {
  /** The id of this instance. */
  readonly me: string
  readonly store: Pick<FullStore, 'queues' | 'instances' | 'limits'>
  readonly served: () => readonly string[]
  readonly platform: Platform
  readonly emit: Emit
  /** Called when jobs may have become claimable. */
  readonly changed: (settings: DispatchSettings) => void
}

export function queueWatch(options: QueueWatchOptions) {
  const { store, platform, emit } = options
  let known = new Map<string, QueueRecord>()
  let limits: ReadonlyMap<string, LimitSettings> = new Map()
  let alive: readonly InstanceRecord[] = []
  /** From the latest heartbeat. */
  let latestSlots: ReadonlyMap<string, number> = new Map()
  let assigned: ReadonlyMap<string, number> = new Map()
  let workers: ReadonlyMap<string, number> = new Map()
  let version: string | null = null
  let isQuiet = false
  let asked = 0
  let reading: Promise<void> | null = null
  const cooling = new Map<string, Timer>()

  /**
   * Reads settings and members again. Runs one read at a time: of two concurrent reads, the older could
   * finish last and overwrite the newer. A request during a read causes one more.
   */
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
      // Cleared in the same step as the last check, so that no request is lost in between.
      reading = null
    }
  }

  async function read(): Promise<void> {
    const [records, instances] = await Promise.all([store.queues.list(), store.instances.list()])
    // Most systems use no limits and skip this read.
    const isLimited = records.some(({ limit }) => limit !== null)
    const all = isLimited ? await store.limits.list() : []
    limits = new Map(all.map(({ name, settings }) => [name, settings]))
    const before = known
    known = new Map(records.map((record) => [record.name, record]))
    alive = instances.filter(isClaiming)
    assigned = new Map([...assigned, ...foreseeShares(before)])
    share()
    for (const record of records) emitChanges(before.get(record.name), record)
    changed()
  }

  /**
   * The shares that the leader will assign for changed totals. Every instance computes the same result, so it
   * need not wait for the assignment to be written and delivered by a heartbeat.
   */
  function foreseeShares(before: ReadonlyMap<string, QueueRecord>): [queue: string, workers: number][] {
    const changed = [...known.values()].filter(({ name, workers: total }) => {
      const old = before.get(name)
      return old !== undefined && old.workers !== total
    })
    return wantedSlots(changed, alive)
      .filter(({ instance }) => instance === options.me)
      .map(({ queue, workers: own }) => [queue, own])
  }

  function share(): void {
    workers = new Map(options.served().map((queue) => [queue, workersFor(queue)]))
  }

  function workersFor(queue: string): number {
    const { workers: total, paused } = known.get(queue) ?? DEFAULT_QUEUE_SETTINGS
    if (paused || isQuiet) return 0
    const mine = assigned.get(queue)
    if (total === null || mine === undefined) return shareOf(queue)
    return Math.min(mine, total)
  }

  /**
   * Without an assignment an instance takes an equal share, rounded up, among the running instances that
   * serve the queue.
   */
  function shareOf(queue: string): number {
    const total = known.get(queue)?.workers ?? null
    if (total === null) return DEFAULTS.workers
    return Math.ceil(total / Math.max(1, alive.filter((one) => one.queues.includes(queue)).length))
  }

  function changed(): void {
    options.changed({
      workers,
      isLimited: (queue) => limitOf(queue) !== null,
      limit: (queue) => limits.get(limitOf(queue) ?? '') ?? null,
      members: (queue) =>
        alive
          .filter((one) => one.queues.includes(queue))
          .map(({ id, kinds }) => ({ instance: id, workers: shareOf(queue), kinds })),
    })
  }

  function limitOf(queue: string): string | null {
    return known.get(queue)?.limit ?? null
  }

  function emitChanges(before: QueueRecord | undefined, now: QueueRecord): void {
    if (before !== undefined) {
      const changed = SETTINGS.filter((key) => before[key] !== now[key])
      const these = (of: QueueSettings): Partial<QueueSettings> =>
        Object.fromEntries(changed.map((key) => [key, of[key]]))
      if (changed.length > 0)
        emit('queue-changed', { queue: now.name, before: these(before), after: these(now) })
    }
    if (now.coolingMs > 0) startCooling(now.name, now.coolingMs)
    else if (cooling.has(now.name)) endCooling(now.name)
  }

  function startCooling(queue: string, forMs: number): void {
    const isNews = !cooling.has(queue)
    cooling.get(queue)?.cancel()
    cooling.set(
      queue,
      platform.timer(forMs, () => endCooling(queue)),
    )
    if (isNews) emit('queue-cooling', { queue, forMs })
  }

  function endCooling(queue: string): void {
    cooling.get(queue)?.cancel()
    cooling.delete(queue)
    emit('queue-resumed', { queue })
    changed()
  }

  return {
    settings: (queue: string): QueueSettings => known.get(queue) ?? DEFAULT_QUEUE_SETTINGS,
    /** The workers of this instance for each queue it serves. */
    workers: () => workers,
    /** Reads again if a version changed. */
    onHeartbeat({ settingsVersion, membersVersion, slots }: Heartbeat) {
      const before = latestSlots
      latestSlots = new Map(slots.map((slot) => [slot.queue, slot.workers]))
      if (!isEqual(before, latestSlots)) {
        assigned = latestSlots
        share()
        changed()
      }
      const next = `${settingsVersion} ${membersVersion}`
      if (next === version) return
      // Also on the first heartbeat: the settings may have changed since the start read them.
      version = next
      refresh().then(options.working, (error: unknown) => {
        // The next heartbeat retries. Until then the last known settings apply.
        version = null
        options.failing(error)
      })
    },
    refresh,
    /** While this instance is quiet, it has no workers. */
    quiet(quiet: boolean) {
      isQuiet = quiet
      share()
      changed()
    },
    stop() {
      for (const timer of cooling.values()) timer.cancel()
      cooling.clear()
    },
  }
}

const SETTINGS = Object.keys(DEFAULT_QUEUE_SETTINGS) as (keyof QueueSettings)[]

function isEqual(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([queue, workers]) => b.get(queue) === workers)
}
