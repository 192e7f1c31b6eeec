/**
 * The heartbeat of an instance, on its own timer: one statement that renews the lease when due and returns
 * everything the instance must know. It is slower while the instance is idle. An instance that could not
 * renew for one lease, by its own monotonic clock, considers itself lost without asking the database.
 */
import type { Trouble } from '../../job/attempt/trouble.ts'
import type { Platform, Timer } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import type { DutyBid } from '../../store/types/duty.ts'
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import { contact as createContact } from './contact.ts'

interface HeartbeatOptions extends Trouble {
  readonly renew: (
    request: Pick<HeartbeatRequest, 'leaseMs' | 'renewEveryMs' | 'queues' | 'duties'>,
  ) => Promise<Heartbeat>
  /** Registers the instance again after it was lost. `stoodStill`: because this process stalled. */
  readonly register: (stoodStill: boolean) => Promise<void>
  readonly queues: () => readonly string[]
  /** The duties this instance can lead. */
  readonly duties: () => readonly DutyBid[]
  readonly onHeartbeat: (heartbeat: Heartbeat) => void
  /**
   * This instance lost all its leases. `blocked`: because this process stalled, not because the database was
   * unreachable.
   */
  readonly lost: (blocked: boolean) => void
  /** The lease is valid until then, on the monotonic clock. */
  readonly renewed: (until: number) => void
  /** The lease is valid again after it was lost. */
  readonly back: () => void
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly everyMs: number
  /** Omitted: the pace never changes. See docs/internals/decisions/many-processes.md. */
  readonly idle?: IdlePace
  readonly platform: Platform
}

interface IdlePace {
  /** How often a heartbeat is sent while the instance is idle. */
  readonly everyMs: number
  /** Whether, as far as this instance knows, nothing waits that only a heartbeat would notice. */
  readonly isIdle: () => boolean
}

/** Events due within this time share a heartbeat. */
const LEAST_DUE_MS = 25

/** The minimum distance between heartbeats, however often one is requested. */
const LEAST_APART_MS = 100

export function heartbeatService(options: HeartbeatOptions) {
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
  /** When this instance last had or found work. */
  let activeAt = Number.NEGATIVE_INFINITY
  let paceMs = options.everyMs

  /** A renewal counts from when it was sent: the lease lasts at least from then. */
  function renewed(sentAt: number): void {
    renewedAt = sentAt
    end?.cancel()
    if (stopped) return
    end = platform.timer(Math.max(0, sentAt + leaseMs - platform.monotonic()), over, { recurring: true })
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
    // At the pace of an idle instance, the next heartbeat may be too late for the renewal.
    const slackMs = paceMs - options.everyMs
    const isDue = !alive || sentAt - renewedAt + slackMs >= options.renewEveryMs
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
    options.onHeartbeat(heartbeat)
    choosePace(!showsWork(heartbeat))
    nextIn(soonest(heartbeat))
  }

  /** After the last sign of work, heartbeats stay frequent for the length of one idle interval. */
  function choosePace(isCalm: boolean): void {
    const { everyMs, idle } = options
    const now = platform.monotonic()
    if (!isCalm || idle?.isIdle() !== true) activeAt = now
    paceMs = idle !== undefined && now - activeAt >= idle.everyMs ? Math.max(everyMs, idle.everyMs) : everyMs
  }

  function nextIn(dueMs: number | null): void {
    // Jitter, so that the processes do not send at once.
    const jitter = 0.95 + platform.random() / 10
    const renewInMs = renewedAt + options.renewEveryMs - platform.monotonic()
    const ms = Math.min(paceMs, Math.max(options.everyMs, renewInMs)) * jitter
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
    next = platform.timer(ms, run, { recurring: true })
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
        choosePace(false)
        nextIn(null)
      })
      .finally(() => {
        beating = null
        // Requested after the next heartbeat was already scheduled.
        if (hurried) sooner()
      })
  }

  return {
    /**
     * False from the end of the lease until it is renewed. Based on the clock, because the timer may be late.
     */
    get alive() {
      return alive && platform.monotonic() < renewedAt + leaseMs
    },
    /** Ends the lease now if it is over by the clock: the timer may be late. */
    noticeEnd() {
      if (platform.monotonic() >= renewedAt + leaseMs) over()
    },
    /** Whether this instance may consider silent instances dead. See contact.ts. */
    get isSteady() {
      return contact.isSteady
    },
    /** The instance was just registered. `sentAt` is when that was sent, on the monotonic clock. */
    start(sentAt: number) {
      stopped = false
      heartbeatAt = sentAt
      activeAt = sentAt
      contact.answered(sentAt)
      renewed(sentAt)
      again(0)
    },
    /** Brings the next heartbeat forward. */
    hurry() {
      if (beating === null) sooner()
      else hurried = true
    },
    /**
     * Returns to the interval of a busy instance: there may be work. Called for every job, so it must be
     * cheap.
     */
    wake(now: number) {
      activeAt = now
      // During a heartbeat, its end chooses the pace.
      if (beating === null && nextAt > now + options.everyMs) again(options.everyMs)
    },
    async stop() {
      stopped = true
      next?.cancel()
      end?.cancel()
      await beating
    },
  }
}

/** Whether a heartbeat found work that this or another instance has to do soon. */
function showsWork(found: Heartbeat): boolean {
  const { alive, ready, quarantined, expired, cancels, stageInMs, budgetInMs, scheduleInMs } = found
  return (
    !alive ||
    ready ||
    quarantined ||
    expired ||
    cancels.length > 0 ||
    stageInMs === 0 ||
    budgetInMs !== null ||
    scheduleInMs === 0
  )
}

/** When the next work is due for which no notification is sent. */
function soonest({ stageInMs, budgetInMs, scheduleInMs, leads }: Heartbeat): number | null {
  const times = [stageInMs, budgetInMs, leads.includes('schedule') ? scheduleInMs : null]
  const ahead = times.filter((ms): ms is number => ms !== null && ms > 0)
  return ahead.length === 0 ? null : Math.min(...ahead)
}
