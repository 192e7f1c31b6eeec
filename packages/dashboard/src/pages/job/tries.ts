/** The attempts of a job in the order they ran, including the current one. */
import type { Attempt, Job, LogLine, Outcome } from '../../api/types.ts'

export interface Try {
  /** Counts from 1. It differs from the attempt number, which repeats after a refund or a retry. */
  readonly n: number
  readonly attempt: number
  readonly instance: string | null
  /** Null when it is unknown. A running attempt has the version of its process. */
  readonly version: string | null
  /** Null when the job never ran: cancelled while it waited. */
  readonly startedAt: number | null
  /** Null while it runs. */
  readonly endedAt: number | null
  readonly outcome: Outcome | 'running'
  readonly error: string | null
  readonly log: readonly LogLine[]
  readonly waitedMs: number | null
}

export function triesOf(job: Job, attempts: readonly Attempt[]): readonly Try[] {
  let before = job.enqueuedAt
  const ended = attempts.map((one, at): Try => {
    const { attempt, instance, version, startedAt, endedAt, outcome, error, log } = one
    const waitedMs = Math.max(0, (startedAt ?? endedAt) - before)
    before = endedAt
    return { n: at + 1, attempt, instance, version, startedAt, endedAt, outcome, error, log, waitedMs }
  })
  if (job.state !== 'running' || job.startedAt === null) return ended
  const { attempt, instance, startedAt, log } = job
  const waitedMs = Math.max(0, startedAt - before)
  return [
    ...ended,
    {
      n: ended.length + 1,
      attempt,
      instance,
      version: null,
      startedAt,
      endedAt: null,
      outcome: 'running',
      error: null,
      log,
      waitedMs,
    },
  ]
}

/** The number of attempts that the store keeps per job; earlier ones are dropped. */
export const MOST_KEPT = 32

export function ranMs({ startedAt, endedAt }: Try, now: number): number | null {
  return startedAt === null ? null : Math.max(0, (endedAt ?? now) - startedAt)
}
