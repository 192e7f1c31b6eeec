/**
 * Leases that were claimed before a worker was free for them, so that one claim brings the work of many. They begin in their order as workers become free. One that
 * does not begin soon, or whose queue has fewer workers now, goes back as if it had never been claimed.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { Paces } from './paces.ts'

/** `waitedMs` is how long it was ready until `now`, on the monotonic clock. */
export type RunLease = (lease: Lease, waitedMs: number, now: number) => void

export interface AheadOptions {
  readonly run: RunLease
  readonly release: (leases: readonly Lease[]) => void
  /** All workers of a queue, and those of them that have nothing to do. */
  readonly workers: (queue: string) => number
  readonly idle: (queue: string) => number
  /** Whether something of this queue may be claimed ahead at all. */
  readonly mayWait: (queue: string) => boolean
  readonly paces: Paces
  readonly platform: Platform
}

export interface Ahead {
  /** Begins with what has a worker, and keeps the rest. */
  readonly take: (leases: readonly Lease[]) => void
  /** A worker may be free. */
  readonly begin: () => void
  /** The workers of queues may have changed. */
  readonly review: () => void
  /** How many wait here, all or of one queue. */
  readonly count: (queue?: string) => number
  /** How many of a queue may wait here. */
  readonly most: (queue: string) => number
  readonly leases: () => Lease[]
  /** Gives this job back, if it waits here: somebody wants to stop it. */
  readonly giveBack: (id: string) => void
  /** Nothing here is ours any more. */
  readonly lost: () => void
  /** Everything goes back, also what is brought later. */
  readonly stop: () => void
}

interface Waiting {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly since: number
}

interface Lane {
  readonly queue: string
  /** Those before `begun` have begun: they are taken out many at once, since each would move all that come after it. */
  waiting: Waiting[]
  begun: number
  /** How many workers the queue had when the last of them came. */
  workers: number
}

export const MOST_AHEAD = 1000
/** Who waits longer than this goes back: the guess was wrong, and others may have a free worker. */
const LONGEST_MS = 250
/** So many that have begun stay in a lane at most. */
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

  /** After a process stood still its timers are late as well: what it held may be somebody else's by now, and is not begun. */
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

  /** One timer for all: it looks when the oldest has waited long enough. */
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
      // Until a job of this queue has ended and says how long they take now.
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

/** Without those that have begun. */
function waitingIn(lane: Lane): Waiting[] {
  if (lane.begun > 0) lane.waiting.splice(0, lane.begun)
  lane.begun = 0
  return lane.waiting
}

function countIn(lane: Lane | undefined): number {
  return lane === undefined ? 0 : lane.waiting.length - lane.begun
}
