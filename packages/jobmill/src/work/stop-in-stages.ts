/**
 * Stopping: no claim any more, what was claimed and not started goes back at once, what runs gets the grace, then its signal fires and what
 * does not end goes back all the same. Nothing here costs an attempt.
 */
import type { Emit } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { within } from '../platform/within.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type Attempt, interrupt } from './attempt.ts'
import type { Attempts } from './attempts.ts'
import type { Grace } from './grace.ts'

export interface StopReport {
  /** Jobs that ended by themselves during the stop. */
  readonly finished: number
  /** Claimed, not started, and given back. */
  readonly handedBack: number
  /** Told to stop, and given back with the attempt refunded. */
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

/** What handlers get to unwind in once their signal has fired: others wait for their jobs. */
const UNWIND_MS = 500
/** What each of the last writes gets: a database that is away must not keep a process from ending. */
export const LAST_MS = 5_000

export async function stopInStages(stages: Stages): Promise<StopReport> {
  const { platform, attempts, grace } = stages
  const startedAt = platform.monotonic()
  // A claim that hangs must not take the grace away from what runs; what it brings is handed back when the instance ends.
  const stopped = within(platform, LAST_MS, 'the last claim', stages.stopClaiming()).catch(() => {})
  const began = attempts.running()
  await Promise.race([attempts.idle(), grace.over])
  grace.cancel()

  const late = [...attempts.live].filter((attempt) => !attempt.ended)
  for (const attempt of late) interrupt(attempt, 'shutdown', platform.monotonic())
  if (late.length > 0) {
    const unwound = new AbortController()
    const idle = attempts.idle().then(() => unwound.abort())
    await Promise.race([idle, sleep(platform, UNWIND_MS, unwound.signal)])
  }
  const stillRunning = late.filter(({ ended }) => !ended)
  if (late.length > 0)
    stages.emit('grace-expired', { jobs: late.map(({ ref, ended }) => ({ ...ref, isAbandoned: !ended })) })
  const last = Promise.all([stopped, ...stillRunning.map((attempt) => abandon(attempt, stages))])
  // What cannot be written now is handed back when the instance ends, or by whoever finds it dead.
  await within(platform, LAST_MS, 'the last outcomes', last.then(stages.written)).catch(stages.giveUp)
  const interrupted = late.filter(isInterrupted).length
  return {
    finished: began - late.length,
    handedBack: stages.releasedUnstarted(),
    interrupted,
    tookMs: platform.monotonic() - startedAt,
  }
}

/** Its handler goes on and cannot be ended; its job need not wait for that. Whatever it still writes is refused. */
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

/** Also one that was told to stop before, for another reason, and did not. */
function isInterrupted({ interruption, abandoned }: Attempt): boolean {
  return abandoned || interruption?.why === 'shutdown'
}
