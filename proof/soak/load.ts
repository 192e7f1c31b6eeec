/** A steady, deterministic load of all operations in turn. It keeps only open jobs in memory. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type EnqueuedJob, type EnqueueOptions, isJobmillError, type JobDefinition, type Mill } from 'jobmill'
import { JOBS, type Work } from './jobs.ts'
import type { OpenJobs } from './open-jobs.ts'

export interface Load {
  /** Calls that the database could not answer, and calls with an unknown outcome. */
  readonly refused: number
  readonly unknown: number
  /** Unexpected errors, in sentences. */
  readonly broken: readonly string[]
  /** Resolves when every call is answered. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

const STEP_MS = 100
const PER_STEP = 5
/** The maximum number of open jobs and calls. On a busy machine, a growing backlog would look like a leak. */
const MOST_OPEN = 300
const MOST_CALLS = 100

/** More errors would only repeat the same. */
const MOST_BROKEN = 10

/** Errors that are expected answers of `result()` and of limits. */
const ANSWERS: readonly string[] = ['JOB_DEAD', 'JOB_CANCELLED', 'RESULT_TIMEOUT']
const isAnswer = (error: unknown): boolean =>
  isJobmillError(error)
    ? ANSWERS.includes(error.code)
    : error instanceof DOMException && error.name === 'TimeoutError'

type Act = (n: number) => Promise<unknown>

export function load(mill: Mill, open: OpenJobs): Load {
  const state = { refused: 0, unknown: 0 }
  const broken: string[] = []
  const calls = new Set<Promise<void>>()

  const isFull = (): boolean => open.size >= MOST_OPEN || calls.size >= MOST_CALLS
  const track = <Job extends EnqueuedJob>(job: Job): Job => {
    if (job.outcome === 'enqueued') open.acknowledged(job.id)
    return job
  }
  const one = async (
    job: JobDefinition<Work>,
    payload: Work,
    options?: EnqueueOptions,
  ): Promise<EnqueuedJob> => track(await mill.enqueue(job, payload, options))

  /** Retries until it is answered: a cancellation is idempotent. */
  async function cancel(id: string, reason: string): Promise<void> {
    for (; ; await sleep(STEP_MS)) {
      try {
        return void (await mill.cancel(id, reason))
      } catch (error) {
        if (!isJobmillError(error) || !error.retryable) throw error
        state.refused += 1
      }
    }
  }

  const acts: readonly Act[] = [
    (n) => one(JOBS.quick, { n }),
    async (n) => (await one(JOBS.quick, { n })).result({ timeout: '20s' }),
    (n) => one(JOBS.steady, { n }, { priority: n % 3 }),
    (n) => one(JOBS.flaky, { n }),
    (n) => one(JOBS.quick, { n }, { delay: 1_000 + (n % 2_000) }),
    (n) => one(JOBS.drawing, { n }),
    (n) => one(JOBS.narrow, { n }),
    async (n) => (await one(JOBS.doomed, { n }, { tags: [`t${n % 7}`] })).result({ timeout: '20s' }),
    // A new order key for every ten jobs: its state must be cleaned up too.
    (n) => one(JOBS.quick, { n }, { orderKey: `line-${Math.floor(n / 200)}` }),
    async (n) => {
      const options = { dedupeKey: `key-${n}`, delay: 500 }
      await Promise.all([one(JOBS.quick, { n }, options), one(JOBS.quick, { n }, options)])
    },
    async (n) => {
      // Not longer: a job whose enqueue was not answered is not cancelled, and has to end too.
      const { id } = await one(JOBS.quick, { n }, { delay: '20s' })
      await cancel(id, 'while it waits')
    },
    async (n) => {
      const { id } = await one(JOBS.endless, { n })
      await sleep(300)
      await cancel(id, 'while it runs')
    },
    (n) => one(JOBS.late, { n }),
    (n) => one(JOBS.following, { n }),
    (n) => one(JOBS.snoozing, { n }),
    async (n) => {
      const many = Array.from({ length: 10 }, (_, at) => ({ payload: { n: n + at } }))
      const jobs = await mill.enqueueMany(JOBS.quick, many)
      jobs.forEach(track)
      await Promise.all(jobs.map((job) => job.result({ timeout: '20s' })))
    },
    // A caller that stops waiting.
    async (n) => {
      const giveUp = new AbortController()
      const result = (await one(JOBS.quick, { n }, { delay: 700 })).result({ signal: giveUp.signal })
      await Promise.race([result.catch(() => {}), sleep(200)])
      giveUp.abort()
    },
    async () => (await mill.limit('seats').acquire({ timeout: '20s' })).release(),
    async () => void (await Promise.all([mill.counts(), mill.list({}, { limit: 10 }), mill.instances()])),
  ]

  async function call(n: number): Promise<void> {
    try {
      await acts[n % acts.length]?.(n)
    } catch (error) {
      if (isAnswer(error)) return
      if (isJobmillError(error) && error.retryable) {
        if (error.code === 'OUTCOME_UNKNOWN') state.unknown += 1
        else state.refused += 1
      } else if (broken.length < MOST_BROKEN) broken.push(`act ${n % acts.length}: ${String(error)}`)
    }
  }

  return {
    get refused() {
      return state.refused
    },
    get unknown() {
      return state.unknown
    },
    broken,
    async run(signal) {
      for (let n = 0; !signal.aborted;) {
        for (let at = 0; at < PER_STEP && !isFull(); at += 1, n += 1) {
          const mine: Promise<void> = call(n).finally(() => calls.delete(mine))
          calls.add(mine)
        }
        await sleep(STEP_MS)
      }
      await Promise.all(calls)
    },
  }
}
