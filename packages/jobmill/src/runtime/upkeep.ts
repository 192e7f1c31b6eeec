/** The duties of an instance, each under its supervisor, driven by the heartbeat. */
import { crashError } from '../job/attempt/crash.ts'
import { DEFAULTS } from '../job/defaults.ts'
import { invalidValue, type JobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import { didYouMean } from '../job/options/known-keys.ts'
import type { Flusher } from '../observe/flush.ts'
import type { DutyBid } from '../store/types/duty.ts'
import type { Heartbeat } from '../store/types/instance.ts'
import type { FullStore } from '../store/store.ts'
import { type Counts, duty, type Duty, type DutyOptions } from '../upkeep/duty.ts'
import type { DutyStatus } from '../upkeep/duty-log.ts'
import { reapExpired } from '../upkeep/reap.ts'
import { rebalance } from '../upkeep/rebalance.ts'
import { retainAll } from '../upkeep/retain.ts'
import { rollUpAll } from '../upkeep/roll-up.ts'
import { serveSchedules } from '../upkeep/schedule.ts'
import { stageDue } from '../upkeep/stage.ts'
import type { Resolved } from './options/options.ts'

export interface UpkeepOptions {
  readonly store: FullStore
  readonly options: Resolved
  readonly emit: Emit
  /** These queues have ready jobs. */
  readonly staged: (queues: Iterable<string>) => void
  readonly reaped: () => void
  /** False while this instance cannot tell crashed instances from instances cut off by an outage. */
  readonly mayReap: () => boolean
  readonly listen: (signal: AbortSignal, works: () => void) => Promise<void>
  readonly flush: Pick<Flusher, 'pass' | 'needed'>
  /** Compares the diagnostics with the alert rules. */
  readonly alert: (signal: AbortSignal) => Promise<Counts>
}

export function upkeep(given: UpkeepOptions) {
  const { store, options, emit } = given
  const { platform } = options
  const indexedPayload = (kind: string): readonly string[] | undefined =>
    options.jobs.find((job) => job.kind === kind)?.indexedPayload
  const last = { unrolled: true, movedAt: Infinity, versions: '' }
  const make = (own: Partial<DutyOptions> & Pick<DutyOptions, 'name' | 'pass'>): Duty =>
    duty({
      everyMs: null,
      deadlineMs: DEFAULTS.dutyDeadlineMs,
      forAll: false,
      recurring: true,
      platform,
      emit,
      ...own,
    })

  const reap = make({
    name: 'reap',
    longestPauseMs: SOON_MS,
    async pass(signal) {
      if (!given.mayReap()) return { instances: 0, jobs: 0 }
      return reapAndEmit(store, options.crashesUntilDead, emit, signal, given.reaped)
    },
  })
  const stage = make({
    name: 'stage',
    longestPauseMs: SOON_MS,
    async pass(signal) {
      const { ready, queues } = await stageDue(store, signal)
      if (ready > 0) given.staged(queues)
      return { ready }
    },
  })
  const schedule = make({
    name: 'schedule',
    longestPauseMs: SOON_MS,
    everyMs: DEFAULTS.scheduleEveryMs,
    forAll: true,
    async pass(signal) {
      const { queues, ...counts } = await serveSchedules({ store, platform, signal, emit, indexedPayload })
      if (queues.length > 0) given.staged(queues)
      return counts
    },
  })
  const rebalancing = make({
    name: 'rebalance',
    everyMs: DEFAULTS.rebalanceEveryMs,
    forAll: true,
    async pass() {
      const counts = await rebalance(store)
      if (counts.assigned > 0) emit('rebalanced', { changed: counts.assigned })
      return counts
    },
  })
  const alert = make({
    name: 'alert',
    everyMs: DEFAULTS.alertEveryMs,
    forAll: true,
    recurring: options.alerts.length === 0,
    pass: given.alert,
  })
  const duties: readonly Duty[] = [
    reap,
    stage,
    schedule,
    rebalancing,
    make({
      name: 'retain',
      everyMs: options.retain.everyMs,
      forAll: true,
      pass(signal) {
        const began = platform.monotonic()
        return retainAll(store, options.retain.ages, signal, (counts) =>
          emit('duty-done', { duty: 'retain', counts, tookMs: platform.monotonic() - began }),
        )
      },
    }),
    make({
      name: 'roll-up',
      everyMs: DEFAULTS.rollUpEveryMs,
      forAll: true,
      needed: () => last.unrolled,
      pass: (signal) => rollUpAll(store, signal),
    }),
    alert,
    make({ name: 'flush', everyMs: DEFAULTS.flushEveryMs, ...given.flush }),
    make({ name: 'listen', deadlineMs: null, longestPauseMs: 10_000, pass: given.listen }),
    // A process has no way to know what they do.
    ...options.duties.map((own) => make({ ...own, recurring: false })),
  ]
  const forAll = duties.filter((one) => one.forAll)

  return {
    stageSoon: stage.soon,
    /** This process wrote a schedule. If this instance leads the duty, it plans it now. */
    scheduleSoon: schedule.soon,
    /** This process wrote an alert rule. If this instance leads the duty, it makes a pass now. */
    alertSoon: alert.soon,
    bids: () => forAll.filter((one) => !one.isHanging()).map((one) => bidOf(one.status())),
    status: () => duties.map((one) => one.status()),
    /**
     * When a heartbeat last reported counters or metrics to aggregate. Every process leaves some when jobs
     * change.
     */
    movedAt: () => last.movedAt,
    /** This instance no longer leads any duty. */
    lost: () => forAll.forEach((one) => one.leads(false)),
    onHeartbeat(heartbeat: Heartbeat) {
      for (const one of forAll) one.leads(heartbeat.leads.includes(one.name))
      last.unrolled = heartbeat.unrolled
      if (heartbeat.unrolled || last.movedAt === Infinity) last.movedAt = platform.monotonic()
      const versions = `${heartbeat.settingsVersion} ${heartbeat.membersVersion}`
      if (versions !== last.versions) rebalancing.soon()
      last.versions = versions
      if (heartbeat.expired && given.mayReap()) reap.soon()
      if (heartbeat.stageInMs === 0) stage.soon()
      if (heartbeat.scheduleInMs === 0) schedule.soon()
    },
    /** Runs one pass now. */
    run: (name: string): Promise<Counts> => {
      const found = duties.find((one) => one.name === name)
      if (found !== undefined && name !== 'listen') return found.once()
      return Promise.reject(dutyUnknown(name, duties))
    },
    async start() {
      await Promise.all(duties.map((one) => one.start()))
    },
    async stop() {
      await Promise.all(duties.map((one) => one.stop()))
    },
  }
}

/** Duties that jobs wait for are retried within seconds, however long they have failed. */
const SOON_MS = 2_000

function bidOf({ name, succeededAgoMs, failures }: DutyStatus): DutyBid {
  return { name, failures, succeededAgoMs: succeededAgoMs === null ? null : Math.round(succeededAgoMs) }
}

export async function reapAndEmit(
  store: FullStore,
  crashesUntilDead: number,
  emit: Emit,
  signal: AbortSignal,
  reaped: () => void = () => {},
): Promise<Counts> {
  const { instances, jobs } = await reapExpired(store, crashesUntilDead, signal)
  if (instances.length + jobs.length > 0) {
    emit('reaped', { instances, jobs })
    for (const { id, kind, queue, state, crashes } of jobs) {
      if (state === 'dead')
        emit('dead', { id, kind, queue, attempt: 0, maxAttempts: 0, error: crashError(crashes) })
    }
    reaped()
  }
  return { instances: instances.length, jobs: jobs.length }
}

function dutyUnknown(name: string, duties: readonly Duty[]): JobmillError {
  const names = duties.map((one) => one.name).filter((one) => one !== 'listen')
  const fix = didYouMean(name, names, `Use one of ${names.join(', ')}`)
  return invalidValue('duty', name, 'no duty has this name', fix, 'DUTY_UNKNOWN')
}
