/**
 * Awaits the ends of jobs, of any process: one statement per period for everything that is awaited here, and none when nobody waits. A job that ends in this
 * process is told of at once.
 */
import { isJobmillError } from '../job/errors.ts'
import { isEnded } from '../job/state.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { JobResult } from '../store/job-record.ts'

/** Null: there is no such job. */
type Answer = JobResult | null

interface Waiter {
  /** A job that was enqueued in a transaction of the user's is not there before it commits. */
  readonly mayAppear: boolean
  settle(answer: Answer): void
  fail(error: unknown): void
}

export interface Results {
  /** Adds a waiter; what it returns takes it away again. */
  readonly add: (id: string, waiter: Waiter) => () => void
  /** This process has just written the end of a job; `isKept` when the database knows it for a while. */
  readonly ended: (result: JobResult, isKept: boolean) => void
  /** These may be other jobs by now, or none. */
  readonly forget: (ids: readonly string[]) => void
  /** Whoever still waits is told this. */
  readonly stop: (error: unknown) => void
}

const MOST_RECENT = 1_000
const LARGEST_RECENT = 4_096

export function results(
  read: (ids: readonly string[]) => Promise<Answer[]>,
  { platform, everyMs }: { readonly platform: Platform; readonly everyMs: number },
): Results {
  const waiters = new Map<string, Set<Waiter>>()
  /**
   * What was done here a moment ago, so that awaiting one job after the other need not ask for each. Of jobs that are kept only from the first time that somebody awaits
   * one: most processes never do, and it is a tenth of what a job costs.
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
    timer = platform.timer(inMs, () => void ask())
  }

  async function ask(): Promise<void> {
    timer = null
    isAsking = true
    askedAt = platform.monotonic()
    // Who comes while the question is on its way wants to know what is true from then on.
    const asking = [...waiters].map(([id, set]) => [id, [...set]] as const)
    try {
      const answers = await read(asking.map(([id]) => id))
      asking.forEach(([id, those], at) => hear(id, answers[at] ?? null, those))
    } catch (error) {
      // Trouble passes; whoever does not want to wait for that gave a time.
      if (!isJobmillError(error) || !error.retryable) failAll(error)
    }
    isAsking = false
    arm()
  }

  function hear(id: string, answer: Answer, those: Iterable<Waiter> = waiters.get(id) ?? []): void {
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
    // Only done is for good, and a large result would cost more memory than a question.
    if (result.state !== 'done' || (result.result ?? '').length > LARGEST_RECENT) return
    recent.set(result.id, result)
    // All older ones at once: a map is slow to find its oldest entry once many before that were deleted.
    if (recent.size < MOST_RECENT / 2) return
    before = recent
    recent = new Map()
  }

  return {
    add(id, waiter) {
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
    ended(result, isKept) {
      if (wasAwaited || !isKept) remember(result)
      if (waiters.size > 0) hear(result.id, result)
    },
    forget(ids) {
      for (const id of ids) {
        recent.delete(id)
        before.delete(id)
      }
    },
    stop(error) {
      timer?.cancel()
      timer = null
      failAll(error)
    },
  }
}
