/**
 * The workers of an instance: run leases to their written outcomes, and release leases that cannot run. The
 * dispatcher decides what to claim.
 */
import { trouble } from '../job/attempt/trouble.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import type { FullStore } from '../store/store.ts'
import type { Lease } from '../store/types/claim.ts'
import { type Finish, releaseOf } from '../store/types/finish.ts'
import type { Heartbeat } from '../store/types/instance.ts'
import { type Attempt, interrupt } from './attempt.ts'
import { attempts as createAttempts } from './attempts.ts'
import type { Grace } from './grace.ts'
import { type ContextTools, makeContext } from './make-context.ts'
import { notes as createNotes } from './notes.ts'
import { completeInTx } from './outcome/complete.ts'
import { finisher as createFinisher } from './outcome/finisher.ts'
import { attemptRunner } from './run-attempt.ts'
import { runJob, type RunJobTools } from './run-job.ts'
import { steps as createSteps } from './steps/steps.ts'
import type { StepTools } from './steps/attempt-steps.ts'
import { stopInStages, type StopReport } from './stop-in-stages.ts'

interface WorkersOptions
  extends
    Omit<ContextTools, 'changed' | 'previousError' | 'complete' | 'stepFor'>,
    Pick<
      RunJobTools,
      | 'platform'
      | 'version'
      | 'handler'
      | 'middleware'
      | 'settings'
      | 'emit'
      | 'tracing'
      | 'written'
      | 'noticeLostLease'
    > {
  readonly store: FullStore
  readonly holdsPermit: StepTools['holdsPermit']
  readonly prepareJobs: StepTools['prepareJobs']
  readonly stuckAfterMs: number
  /** A handler ended, so a worker of this queue is free. */
  readonly freed: (queue: string) => void
  /** An outcome is written, or never will be. */
  readonly settled: () => void
}

const BLOCKED =
  'this process stalled for longer than its lease: a handler blocked the event loop, or the process was suspended'

export function workers(options: WorkersOptions) {
  const { store, platform, emit } = options
  const now = (): number => platform.monotonic()
  const attempts = createAttempts({
    ended: ({ lease }) => options.freed(lease.queue),
    settled: options.settled,
  })
  const reportStuck = stuckWatch(options.stuckAfterMs, emit)
  const writing = {
    finish: (items: readonly Finish[], how?: { readonly rehearse: boolean }) => store.finish(items, how),
    platform,
  }
  const finisher = createFinisher({ ...writing, ...trouble('finish', emit) })
  // One statement for each outcome: it may wait for a transaction of the user, and must not delay other
  // outcomes.
  const afterTx = createFinisher({ ...writing, perWrite: 1, width: 100, ...trouble('finish', emit) })
  const notes = createNotes({
    write: (items) => store.progress(items),
    platform,
    everyMs: DEFAULTS.noteEveryMs,
    emit,
    // If a transaction of the user completed the job, no other instance holds it.
    stale: (attempt) => void (attempt.completedInTx || interrupt(attempt, 'lease-lost', now())),
  })
  const steps = createSteps(options)
  const inside: ContextTools = {
    ...contextTools(options, notes.changed),
    stepFor: (attempt) =>
      steps.of(attempt, { memos: attempt.memos, version: options.handler(attempt.lease.kind).version }),
  }
  const tools: RunJobTools = {
    ...options,
    contextFor: (attempt, payload) => makeContext(attempt, payload, inside),
    memosOf: steps.read,
    attempts,
    runAttempt: attemptRunner(options.instance.id),
    finish: finisher.put,
    finishAfterTx: afterTx.put,
    failing: trouble('run', emit).failing,
    cancelReason: async (id) => (await store.results([id]).catch(() => []))[0]?.error ?? 'cancelled',
  }
  let released = { jobs: 0 }

  async function releaseOne(lease: Lease, count: typeof released): Promise<void> {
    const finished = await finisher.add(releaseOf(lease))
    // Abandoned. A refused release counts, because an earlier try or the end of the lease returned the job.
    if (finished === null) return
    const { id, kind, queue, attempt, maxAttempts } = lease
    const ref = { id, kind, queue, attempt, maxAttempts }
    if (finished.state !== 'cancelled') {
      count.jobs += 1
      return emit('released', ref)
    }
    // The cancel came while the lease was buffered here, so the release was enough.
    emit('cancelled', { ...ref, ranMs: 0, reason: await tools.cancelReason(id) })
  }

  return {
    attempts,
    /** `waitedMs` is how long the job was ready until `now`, on the monotonic clock. */
    run: (lease: Lease, waitedMs: number, now: number) => runJob(lease, tools, waitedMs, now),
    /** Releases leases that will not run. */
    release: async (leases: readonly Lease[]) => {
      const count = released
      await Promise.all(leases.map((lease) => releaseOne(lease, count)))
    },
    /** Interrupts running jobs that were cancelled, and checks for stuck handlers. */
    onHeartbeat(cancels: Heartbeat['cancels']) {
      for (const { id, token, reason } of cancels) {
        for (const attempt of attempts.find(id))
          if (attempt.lease.token === token) interrupt(attempt, 'cancelled', now(), { detail: reason })
      }
      reportStuck(attempts.live, now())
    },
    /** A cancel was requested in this process. The signal fires before this returns. */
    cancelled(id: string, reason: string) {
      for (const attempt of attempts.find(id)) interrupt(attempt, 'cancelled', now(), { detail: reason })
    },
    /** This instance lost its leases. Returns how many handlers were asked to stop. */
    lost(blocked: boolean) {
      const live = [...attempts.live].filter((attempt) => !attempt.ended)
      const how = blocked ? { blocked, detail: BLOCKED } : {}
      for (const attempt of live) interrupt(attempt, 'lease-lost', now(), how)
      return live.length
    },
    async stop(grace: Grace, stopClaiming: () => Promise<void>): Promise<StopReport> {
      // Only leases released because of the stop are reported at its end.
      released = { jobs: 0 }
      const report = await stopInStages({
        grace,
        platform,
        stopClaiming,
        attempts,
        finish: finisher.add,
        written: () => Promise.all([finisher.idle(), afterTx.idle()]),
        giveUp: () => (finisher.giveUp(), afterTx.giveUp()),
        releasedUnstarted: () => released.jobs,
        emit,
      })
      notes.stop()
      return report
    },
  }
}

function contextTools(
  options: WorkersOptions,
  changed: ContextTools['changed'],
): Omit<ContextTools, 'stepFor'> {
  const { store, platform, handler } = options
  const completing = {
    finish: (items: readonly Finish[], { tx }: { readonly tx: unknown }) => store.finish(items, { tx }),
    monotonic: () => platform.monotonic(),
  }
  return {
    ...options,
    changed,
    previousError: async ({ lease }) => (await store.results([lease.id]))[0]?.error ?? null,
    complete: (attempt, tx, result) =>
      completeInTx(attempt, handler(attempt.lease.kind), { tx, result }, completing),
  }
}

function stuckWatch(afterMs: number, emit: Emit) {
  const reported = new WeakSet<Attempt>()
  return (live: Iterable<Attempt>, now: number): void => {
    for (const attempt of live) {
      const { interruption, interruptedAt } = attempt
      if (attempt.ended || interruption === null || interruptedAt === null || reported.has(attempt)) continue
      if (now - interruptedAt < afterMs) continue
      reported.add(attempt)
      emit('stuck', { ...attempt.ref, why: interruption.why, sinceMs: now - interruptedAt })
    }
  }
}
