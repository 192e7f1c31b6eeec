/**
 * Graceful shutdown: stop claiming, release leases that have not started, give running jobs the grace period,
 * then fire their signals and return the rest to the queue. No stage spends an attempt.
 */
import type { Emit } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Finish, Finished } from '../store/types/finish.ts'
import { type Attempt, interrupt } from './attempt.ts'
import type { Attempts } from './attempts.ts'
import type { Grace } from './grace.ts'

export interface StopReport {
  /** Jobs that ended on their own during the stop. */
  readonly finished: number
  /** Claimed but not started, and returned to the queue. */
  readonly returned: number
  /**
   * Asked to stop after the grace period. Jobs that did not finish return to the queue, their attempt
   * refunded.
   */
  readonly interrupted: number
  readonly tookMs: number
}

export interface Stages {
  readonly grace: Grace
  readonly platform: Platform
  readonly stopClaiming: () => Promise<void>
  readonly attempts: Attempts
  readonly finish: (item: Finish) => Promise<Finished | null>
  /** Resolves when every outcome is written. */
  readonly written: () => Promise<unknown>
  readonly giveUp: () => void
  readonly emit: Emit
  readonly releasedUnstarted: () => number
}

/**
 * How long handlers may unwind after their signal fired. Short, because other processes wait for these jobs.
 */
const UNWIND_MS = 500

export async function stopInStages(stages: Stages): Promise<StopReport> {
  const { platform, attempts, grace } = stages
  const startedAt = platform.monotonic()
  // Awaited with the last writes: a claim that hangs must not use up the grace period. Its leases are
  // released when the instance deregisters.
  const stopped = stages.stopClaiming().catch(() => {})
  const began = attempts.running()
  await Promise.race([attempts.idle(), grace.over])
  grace.end()

  const late = [...attempts.live].filter((attempt) => !attempt.ended)
  for (const attempt of late) interrupt(attempt, 'shutdown', platform.monotonic())
  if (late.length > 0) {
    const unwound = new AbortController()
    const idle = attempts.idle().then(() => unwound.abort())
    const unwinding = Promise.race([idle, sleep(platform, UNWIND_MS, unwound.signal)])
    await grace.lastly('the end of handlers', unwinding).catch(() => unwound.abort())
  }
  const stillRunning = late.filter(({ ended }) => !ended)
  if (late.length > 0)
    stages.emit('grace-expired', { jobs: late.map(({ ref, ended }) => ({ ...ref, isAbandoned: !ended })) })
  const last = Promise.all([stopped, ...stillRunning.map((attempt) => abandon(attempt, stages))])
  // Jobs whose outcome cannot be written now are released by the deregistration or by the reaper.
  await grace.lastly('the last outcomes', last.then(stages.written)).catch(stages.giveUp)
  const interrupted = late.filter(isInterrupted).length
  return {
    finished: began - late.length,
    returned: stages.releasedUnstarted(),
    interrupted,
    tookMs: platform.monotonic() - startedAt,
  }
}

/**
 * The handler continues and cannot be ended, but its job need not wait for it. Its later writes are refused.
 */
async function abandon(attempt: Attempt, { finish, platform, emit }: Stages): Promise<void> {
  attempt.abandoned = true
  const { id, token } = attempt.lease
  const log = attempt.logText
  const finished = await finish({
    id,
    token,
    outcome: 'interrupted',
    transition: { to: 'ready' },
    error: attempt.interruption?.message,
    ranMs: platform.monotonic() - attempt.startedAt,
    ...(log === undefined ? {} : { log }),
  })
  if (finished?.accepted === true) emit('interrupted', { ...attempt.ref, why: 'shutdown' })
}

/** Also true for a handler that was asked to stop earlier, for another reason, and did not. */
function isInterrupted({ interruption, abandoned }: Attempt): boolean {
  return abandoned || interruption?.why === 'shutdown'
}
