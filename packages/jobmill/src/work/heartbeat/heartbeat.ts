/**
 * The heartbeat of an instance, on its own timer: one statement that renews the lease when due and returns
 * everything the instance must know. An instance that could not renew for one lease, by its own monotonic
 * clock, considers itself lost without asking the database.
 */
import type { Platform, Timer } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import type { DutyBid } from '../../store/types/duty.ts'
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import { contact as createContact } from './contact.ts'

export interface HeartbeatOptions {
  readonly renew: (
    request: Pick<HeartbeatRequest, 'leaseMs' | 'renewEveryMs' | 'queues' | 'duties'>,
  ) => Promise<Heartbeat>
  /** Registers the instance again after it was lost. `stoodStill`: because this process stalled. */
  readonly register: (stoodStill: boolean) => Promise<void>
  readonly queues: () => readonly string[]
  /** The duties this instance can lead. */
  readonly duties: () => readonly DutyBid[]
  readonly heard: (heartbeat: Heartbeat) => void
  /**
   * This instance lost all its leases. `blocked`: because this process stalled, not because the database was
   * unreachable.
   */
  readonly lost: (blocked: boolean) => void
  /** The lease is valid until then, on the monotonic clock. */
  readonly renewed: (until: number) => void
  /** It is valid again after it was lost. */
  readonly back: () => void
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly everyMs: number
  readonly platform: Platform
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export interface HeartbeatService {
  /** The instance was just registered. `sentAt` is when that was sent, on the monotonic clock. */
  start(sentAt: number): void
  /** Brings the next heartbeat forward. */
  hurry(): void
  stop(): Promise<void>
  /**
   * False from the end of the lease until it is renewed. Based on the clock, because the timer may be late.
   */
  readonly alive: boolean
  /** Whether this instance may consider silent instances dead. See contact.ts. */
  readonly isSteady: boolean
}

/** Events due within this time share a heartbeat. */
const LEAST_DUE_MS = 25

/** The minimum distance between heartbeats, however often one is requested. */
const LEAST_APART_MS = 100

export function heartbeatService(options: HeartbeatOptions): HeartbeatService {
  const { platform, leaseMs } = options
  const deadlineMs = Math.ceil(leaseMs / 3)
  const monotonic = (): number => platform.monotonic()
  // The slowest heartbeat that still counts as answered, plus the pause after it.
  const contact = createContact({ monotonic, leaseMs, longestGapMs: deadlineMs + options.everyMs * 1.5 })
  let renewedAt = 0
  let alive = true
  let hasStoodStill = false
  let stopped = true
  let next: Timer | undefined
  let end: Timer | undefined
  let beating: Promise<void> | null = null
  let hurried = false
  let heartbeatAt = Number.NEGATIVE_INFINITY
  let gapMs = 0
  let nextAt = Number.POSITIVE_INFINITY

  /** A renewal counts from when it was sent: the lease lasts at least from then. */
  function renewed(sentAt: number): void {
    renewedAt = sentAt
    end?.cancel()
    if (stopped) return
    end = platform.timer(Math.max(0, sentAt + leaseMs - platform.monotonic()), over)
    options.renewed(sentAt + leaseMs)
    if (alive) return
    alive = true
    options.back()
  }

  function over(): void {
    if (!alive || stopped) return
    alive = false
    hasStoodStill = stoodStill()
    options.lost(hasStoodStill)
  }

  /**
   * Whether this process stalled. During an outage, heartbeats are still sent, each with a deadline; a
   * stalled process sends none for longer than that. `gapMs` covers a stall that just ended: overdue timers
   * fire together, so the last heartbeat may be recent.
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
    // A hanging statement must not make this instance lose its lease: another connection may work.
    const heartbeat = await within(
      platform,
      deadlineMs,
      'the heartbeat (the database may be locked, slow or unreachable)',
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
    // Jitter, so that the processes do not send at once.
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

  /** Never postpones the next heartbeat. */
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
        // Requested after the next heartbeat was already scheduled.
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

/** When the next work is due for which no notification is sent. */
function soonest({ stageInMs, budgetInMs, scheduleInMs, leads }: Heartbeat): number | null {
  const times = [stageInMs, budgetInMs, leads.includes('schedule') ? scheduleInMs : null]
  const ahead = times.filter((ms): ms is number => ms !== null && ms > 0)
  return ahead.length === 0 ? null : Math.min(...ahead)
}
