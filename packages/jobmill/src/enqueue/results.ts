/**
 * Awaits the results of jobs from any process. One statement per period reads all awaited results, and none
 * runs while there are no waiters. A job that ends in this process settles its waiters at once.
 */
import { isJobmillError } from '../job/errors.ts'
import { isEnded } from '../job/state.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { JobResult } from '../store/types/job-record.ts'

/** Null: the job does not exist. */
type Answer = JobResult | null

interface Waiter {
  /** A job that was enqueued in a caller's transaction does not exist before it commits. */
  readonly mayAppear: boolean
  settle(answer: Answer): void
  fail(error: unknown): void
}

/** What becomes of a job that has ended. */
export interface Ending {
  /** The database retains the job for a while. */
  readonly isKept: boolean
  /** It has steps, so any process may rewind it. Its result would then no longer be the latest. */
  readonly mayRunAgain: boolean
}

export type Results = ReturnType<typeof results>

const MOST_RECENT = 1_000
const LARGEST_RECENT = 4_096

export function results(
  read: (ids: readonly string[]) => Promise<Answer[]>,
  { platform, everyMs }: { readonly platform: Platform; readonly everyMs: number },
) {
  const waiters = new Map<string, Set<Waiter>>()
  /**
   * Results of jobs that ended here recently, so that awaiting one job after another needs no statement each.
   * Jobs that the database retains are cached only after the first await: most processes never await a
   * result, and caching adds about a tenth to the cost of a job.
   */
  let recent = new Map<string, JobResult>()
  let before = new Map<string, JobResult>()
  let timer: Timer | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  let isAsking = false
  let wasAwaited = false

  function arm(): void {
    if (timer !== null || isAsking || waiters.size === 0) return
    const inMs = Math.max(0, askedAt + everyMs - platform.monotonic())
    timer = platform.timer(inMs, () => void ask(), { recurring: true })
  }

  async function ask(): Promise<void> {
    timer = null
    isAsking = true
    askedAt = platform.monotonic()
    // A waiter added while the statement is in flight must not be settled by its answer, which may be older.
    const asking = [...waiters].map(([id, set]) => [id, [...set]] as const)
    try {
      const answers = await read(asking.map(([id]) => id))
      asking.forEach(([id, those], at) => settleWaiters(id, answers[at] ?? null, those))
    } catch (error) {
      // Retryable errors are temporary, so the next period tries again. A caller that cannot wait sets a
      // timeout.
      if (!isJobmillError(error) || !error.retryable) failAll(error)
    }
    isAsking = false
    arm()
  }

  function settleWaiters(id: string, answer: Answer, those: Iterable<Waiter> = waiters.get(id) ?? []): void {
    for (const waiter of those) {
      if (waiters.get(id)?.has(waiter) !== true) continue
      if (answer === null ? waiter.mayAppear : !isEnded(answer.state)) continue
      remove(id, waiter)
      waiter.settle(answer)
    }
  }

  function failAll(error: unknown): void {
    const all = [...waiters.values()].flatMap((set) => [...set])
    waiters.clear()
    for (const waiter of all) waiter.fail(error)
  }

  function remove(id: string, waiter: Waiter): void {
    const set = waiters.get(id)
    set?.delete(waiter)
    if (set?.size === 0) waiters.delete(id)
    if (waiters.size > 0 || timer === null) return
    timer.cancel()
    timer = null
  }

  function remember(result: JobResult): void {
    // Other ends can be retried. Caching a large result would cost more memory than reading it costs time.
    if (result.state !== 'done' || (result.result ?? '').length > LARGEST_RECENT) return
    recent.set(result.id, result)
    // Drops the older half at once: a Map is slow to find its oldest entry after many deletions.
    if (recent.size < MOST_RECENT / 2) return
    before = recent
    recent = new Map()
  }

  return {
    /** Adds a waiter; the returned function removes it. */
    add(id: string, waiter: Waiter): () => void {
      wasAwaited = true
      const known = recent.get(id) ?? before.get(id)
      if (known !== undefined) {
        platform.nextTurn(() => waiter.settle(known))
        return () => {}
      }
      const set = waiters.get(id) ?? new Set()
      waiters.set(id, set.add(waiter))
      arm()
      return () => remove(id, waiter)
    },
    /** Called when this process has written the end of a job. */
    ended: (result: JobResult, { isKept, mayRunAgain }: Ending) => {
      if (!isKept || (wasAwaited && !mayRunAgain)) remember(result)
      if (waiters.size > 0) settleWaiters(result.id, result)
    },
    /** Drops cached results of ids that may have been deleted or reused. */
    forget: (ids: readonly string[]) => {
      for (const id of ids) {
        recent.delete(id)
        before.delete(id)
      }
    },
    /** Rejects all remaining waiters with this error. */
    stop(error: unknown) {
      timer?.cancel()
      timer = null
      failAll(error)
    },
  }
}
