/**
 * The prefetch buffer: leases claimed before a worker is free, so that one claim serves many jobs. They start
 * in order as workers become free. A lease that does not start soon, or whose queue lost workers, is released
 * as if it had never been claimed.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { Paces } from './paces.ts'

/** `waitedMs` is how long the job was ready until `now`, on the monotonic clock. */
export type RunLease = (lease: Lease, waitedMs: number, now: number) => void

export interface AheadOptions {
  readonly run: RunLease
  readonly release: (leases: readonly Lease[]) => void
  /** All workers of a queue, and the idle ones. */
  readonly workers: (queue: string) => number
  readonly idle: (queue: string) => number
  /** Whether this queue may be prefetched at all. */
  readonly mayWait: (queue: string) => boolean
  readonly paces: Paces
  readonly platform: Platform
}

export interface Ahead {
  /** Starts the leases that have a worker and buffers the rest. */
  readonly take: (leases: readonly Lease[]) => void
  /** A worker may be free. */
  readonly begin: () => void
  /** The workers of queues may have changed. */
  readonly review: () => void
  /** The number of buffered leases, in all queues or in one. */
  readonly count: (queue?: string) => number
  /** The maximum number of buffered leases of a queue. */
  readonly most: (queue: string) => number
  readonly leases: () => Lease[]
  /** Releases this job if it is buffered, because a cancel was requested. */
  readonly giveBack: (id: string) => void
  /** This instance lost its leases. */
  readonly lost: () => void
  /** Releases everything, including leases that arrive later. */
  readonly stop: () => void
}

interface Waiting {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly since: number
}

interface Lane {
  readonly queue: string
  /**
   * Entries before `begun` have started. They are removed in batches, because each removal moves all later
   * entries.
   */
  waiting: Waiting[]
  begun: number
  /** The number of workers when the last entry was added. */
  workers: number
}

export const MOST_AHEAD = 1000
/**
 * A lease that waits longer is released: the estimate was wrong, and another instance may have a free worker.
 */
const LONGEST_MS = 250
/** The maximum number of started entries kept in a lane. */
const MOST_BEGUN = 64

export function ahead(options: AheadOptions): Ahead {
  const { paces, platform } = options
  const lanes = new Map<string, Lane>()
  let total = 0
  let stopped = false
  let timer: Timer | null = null

  function laneOf(queue: string): Lane {
    let lane = lanes.get(queue)
    if (lane === undefined) lanes.set(queue, (lane = { queue, waiting: [], begun: 0, workers: 0 }))
    return lane
  }

  function begin(): void {
    if (total === 0 || stopped) return
    for (const lane of lanes.values()) {
      for (let free = options.idle(lane.queue); free > 0; free -= 1) {
        const next = lane.waiting[lane.begun]
        if (next === undefined) break
        lane.begun += 1
        total -= 1
        beginOne(next)
      }
      if (lane.begun >= MOST_BEGUN) waitingIn(lane)
    }
  }

  /**
   * After a stall the timers are late too: another instance may hold the lease by now, so an old one must not
   * start.
   */
  function beginOne({ lease, since }: Waiting): void {
    const now = platform.monotonic()
    const ms = now - since
    if (ms > LONGEST_MS) options.release([lease])
    else options.run(lease, lease.waitedMs + Math.floor(ms), now)
  }

  function take(leases: readonly Lease[]): void {
    if (stopped) return options.release(leases)
    const since = platform.monotonic()
    for (const lease of leases) {
      const lane = laneOf(lease.queue)
      const waiting = waitingIn(lane)
      const isLate = (waiting.at(-1)?.lease.priority ?? lease.priority) > lease.priority
      waiting.push({ lease, since })
      lane.workers = options.workers(lease.queue)
      if (isLate) waiting.sort((a, b) => a.lease.priority - b.lease.priority)
      paces.claimed(lease.queue, lease.payload.length)
    }
    total += leases.length
    begin()
    watch()
  }

  /** One timer for all entries, set to the oldest one. */
  function watch(): void {
    if (timer !== null || total === 0) return
    const now = platform.monotonic()
    const oldest = [...lanes.values()].flatMap((lane) => waitingIn(lane).map(({ since }) => since))
    timer = platform.timer(Math.max(1, Math.min(...oldest) + LONGEST_MS - now), () => {
      timer = null
      sendBackOld()
      watch()
    })
  }

  function sendBackOld(): void {
    const latest = platform.monotonic() - LONGEST_MS
    for (const [queue, lane] of lanes) {
      const isOld = ({ since }: Waiting): boolean => since <= latest
      if (!waitingIn(lane).some(isOld)) continue
      // Prefetch stops until a job of this queue ends and provides a new run-time estimate.
      paces.forget(queue)
      sendBack(lane, isOld)
    }
  }

  function sendBack(lane: Lane, which: (one: Waiting) => boolean): void {
    const back = waitingIn(lane).filter(which)
    if (back.length === 0) return
    lane.waiting = lane.waiting.filter((one) => !which(one))
    total -= back.length
    options.release(back.map(({ lease }) => lease))
  }

  return {
    take,
    begin,
    review() {
      for (const [queue, lane] of lanes) if (options.workers(queue) < lane.workers) sendBack(lane, () => true)
      begin()
    },
    count: (queue) => (queue === undefined ? total : countIn(lanes.get(queue))),
    most(queue) {
      if (!options.mayWait(queue)) return 0
      const others = total - countIn(lanes.get(queue))
      return Math.max(0, Math.min(MOST_AHEAD - others, paces.soon(queue, options.workers(queue))))
    },
    leases: () => [...lanes.values()].flatMap((lane) => waitingIn(lane).map(({ lease }) => lease)),
    giveBack(id) {
      for (const lane of lanes.values()) sendBack(lane, ({ lease }) => lease.id === id)
    },
    lost() {
      lanes.clear()
      total = 0
    },
    stop() {
      stopped = true
      timer?.cancel()
      for (const lane of lanes.values()) sendBack(lane, () => true)
    },
  }
}

/** Excludes the entries that have started. */
function waitingIn(lane: Lane): Waiting[] {
  if (lane.begun > 0) lane.waiting.splice(0, lane.begun)
  lane.begun = 0
  return lane.waiting
}

function countIn(lane: Lane | undefined): number {
  return lane === undefined ? 0 : lane.waiting.length - lane.begun
}
