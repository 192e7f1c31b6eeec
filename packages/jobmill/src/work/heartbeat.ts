/**
 * The heartbeat of an instance, on a timer of its own whatever the work does: one statement that renews the instance when that is due and brings
 * back all that it must know. An instance that could not renew for the length of its lease, by its own monotonic clock, considers
 * itself lost without waiting to be told.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { within } from '../platform/within.ts'
import type { DutyBid } from '../store/duty.ts'
import type { Heartbeat, HeartbeatRequest } from '../store/instance.ts'
import { contact as createContact } from './contact.ts'

export interface HeartbeatOptions {
  readonly renew: (
    request: Pick<HeartbeatRequest, 'leaseMs' | 'renewEveryMs' | 'queues' | 'duties'>,
  ) => Promise<Heartbeat>
  /** Makes the instance known again after it was lost. `stoodStill`: because this process did. */
  readonly register: (stoodStill: boolean) => Promise<void>
  readonly queues: () => readonly string[]
  /** What it would lead. */
  readonly duties: () => readonly DutyBid[]
  readonly heard: (heartbeat: Heartbeat) => void
  /** Nothing that this instance holds is its own any more. `blocked`: not because the database was away, but because this process stood still. */
  readonly lost: (blocked: boolean) => void
  readonly back: () => void
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly everyMs: number
  readonly platform: Platform
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export interface HeartbeatService {
  /** The instance has just been registered. `sentAt`, on the monotonic clock, is when that was sent. */
  start(sentAt: number): void
  /** Brings the next beat forward. */
  hurry(): void
  stop(): Promise<void>
  /** False once the lease is over, until it was renewed: by the clock, since the timer that says so may be late. */
  readonly alive: boolean
  /** Whether this instance may judge others by their silence: see contact.ts. */
  readonly isSteady: boolean
  /**
   * To ask of what will be leased to this instance from now on: whether that can still be its own. Not after the lease of the instance was over, also
   * when it lives again.
   */
  readonly term: () => () => boolean
}

/** What comes due one after the other shares a beat. */
const LEAST_DUE_MS = 25

/** However often it is hurried. */
const LEAST_APART_MS = 100

export function heartbeatService(options: HeartbeatOptions): HeartbeatService {
  const { platform, leaseMs } = options
  const deadlineMs = Math.ceil(leaseMs / 3)
  const monotonic = (): number => platform.monotonic()
  // The slowest heartbeat that still counts as answered, and the pause after it.
  const contact = createContact({ monotonic, leaseMs, longestGapMs: deadlineMs + options.everyMs * 1.5 })
  let renewedAt = 0
  let alive = true
  let losses = 0
  let hasStoodStill = false
  let stopped = true
  let next: Timer | undefined
  let end: Timer | undefined
  let beating: Promise<void> | null = null
  let hurried = false
  let heartbeatAt = Number.NEGATIVE_INFINITY
  let gapMs = 0
  let nextAt = Number.POSITIVE_INFINITY

  /** What is written is known by when it was sent: the lease lasts at least from then. */
  function renewed(sentAt: number): void {
    renewedAt = sentAt
    end?.cancel()
    if (stopped) return
    end = platform.timer(Math.max(0, sentAt + leaseMs - platform.monotonic()), over)
    if (alive) return
    alive = true
    options.back()
  }

  function over(): void {
    if (!alive || stopped) return
    alive = false
    losses += 1
    hasStoodStill = stoodStill()
    options.lost(hasStoodStill)
  }

  /**
   * While the database is away beats are sent all the same, each with a deadline of its own. Here none was sent for longer than that can take; the last one
   * may have been sent a moment ago, when the timers that were due meanwhile all came at once.
   */
  function stoodStill(): boolean {
    const longestMs = Math.max(leaseMs * 0.6, deadlineMs + options.everyMs * 1.5)
    return Math.max(platform.monotonic() - heartbeatAt, gapMs) > longestMs
  }

  async function sendHeartbeat(): Promise<void> {
    const sentAt = platform.monotonic()
    gapMs = sentAt - heartbeatAt
    heartbeatAt = sentAt
    const isDue = !alive || sentAt - renewedAt >= options.renewEveryMs
    const request = {
      leaseMs,
      renewEveryMs: isDue ? 0 : leaseMs,
      queues: options.queues(),
      duties: options.duties(),
    }
    // A statement that hangs must not cost the lease: another connection may be well.
    const heartbeat = await within(
      platform,
      deadlineMs,
      'the heartbeat (is the database locked, slow or away?)',
      options.renew(request),
    )
    if (stopped) return
    contact.answered(sentAt)
    if (heartbeat.alive) {
      if (isDue) renewed(sentAt)
    } else {
      over()
      const registeredAt = platform.monotonic()
      await options.register(hasStoodStill)
      renewed(registeredAt)
    }
    options.working()
    options.heard(heartbeat)
    nextIn(soonest(heartbeat))
  }

  function nextIn(dueMs: number | null): void {
    const { everyMs } = options
    // Not all processes at once.
    const ms = everyMs * (0.95 + platform.random() / 10)
    again(hurried ? soonMs() : Math.min(ms, dueMs === null ? ms : Math.max(dueMs, LEAST_DUE_MS)))
  }

  function soonMs(): number {
    return Math.max(0, heartbeatAt + LEAST_APART_MS - platform.monotonic())
  }

  function again(ms: number): void {
    if (stopped) return
    next?.cancel()
    hurried = false
    nextAt = platform.monotonic() + ms
    next = platform.timer(ms, run)
  }

  /** Never later than it was to be. */
  function sooner(): void {
    const ms = soonMs()
    if (platform.monotonic() + ms < nextAt) again(ms)
    hurried = false
  }

  function run(): void {
    beating ??= sendHeartbeat()
      .catch((error: unknown) => {
        contact.failed()
        options.failing(error)
        nextIn(null)
      })
      .finally(() => {
        beating = null
        // Asked for when the next beat was set already.
        if (hurried) sooner()
      })
  }

  const isAlive = (): boolean => alive && platform.monotonic() < renewedAt + leaseMs

  return {
    get alive() {
      return isAlive()
    },
    get isSteady() {
      return contact.isSteady
    },
    term() {
      const before = losses
      return () => losses === before && isAlive()
    },
    start(sentAt) {
      stopped = false
      heartbeatAt = sentAt
      contact.answered(sentAt)
      renewed(sentAt)
      again(0)
    },
    hurry() {
      if (beating === null) sooner()
      else hurried = true
    },
    async stop() {
      stopped = true
      next?.cancel()
      end?.cancel()
      await beating
    },
  }
}

/** When there is something to do that no bell rings for. */
function soonest({ stageInMs, budgetInMs, scheduleInMs, leads }: Heartbeat): number | null {
  const times = [stageInMs, budgetInMs, leads.includes('schedule') ? scheduleInMs : null]
  const ahead = times.filter((ms): ms is number => ms !== null && ms > 0)
  return ahead.length === 0 ? null : Math.min(...ahead)
}
