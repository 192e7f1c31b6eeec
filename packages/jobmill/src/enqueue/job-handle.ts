/** Job handles, which await the result of a job. */
import { durationMs } from '../job/duration.ts'
import { invalidValue, JobmillError } from '../job/errors.ts'
import type { EnqueuedJob, JobHandle, ResultOptions } from '../job/enqueue/handle.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { checkSignal } from '../job/numbers.ts'
import { checkId } from '../job/names.ts'
import type { Platform } from '../platform/platform.ts'
import type { JobResult } from '../store/types/job-record.ts'
import type { Results } from './results.ts'

export interface HandleTools {
  readonly results: Pick<Results, 'add'>
  readonly platform: Platform
}

/** `mayAppear`: the job was enqueued in a transaction that may not be committed yet. */
export function jobHandle<Result>(id: string, tools: HandleTools, mayAppear = false): JobHandle<Result> {
  const checked = checkId(id, 'id')
  return { id: checked, result: (options) => resultOf<Result>(checked, options, tools, mayAppear) }
}

/** A handle whose first use opens the store. */
export function openingHandle<Result>(
  handle: JobHandle<Result>,
  open: () => Promise<void> | undefined,
): JobHandle<Result> {
  return {
    id: handle.id,
    async result(how) {
      await open()
      return handle.result(how)
    },
  }
}

/** The handle of a job that was just enqueued. Its id needs no check. */
export function enqueuedJob(
  id: string,
  outcome: EnqueuedJob['outcome'],
  tools: HandleTools,
  mayAppear: boolean,
): EnqueuedJob {
  return { id, result: (options) => resultOf(id, options, tools, mayAppear), outcome }
}

async function resultOf<Result>(
  id: string,
  options: ResultOptions = {},
  tools: HandleTools,
  mayAppear: boolean,
): Promise<Result> {
  checkObjectKeys(options, 'options', ['timeout', 'signal'])
  checkSignal(options.signal, 'options.signal')
  const timeoutMs = options.timeout === undefined ? null : durationMs(options.timeout, 'options.timeout')
  const answer = await awaitEnd(id, tools, timeoutMs, options.signal, mayAppear)
  return valueOf(id, answer) as Result
}

function awaitEnd(
  id: string,
  { results, platform }: HandleTools,
  timeoutMs: number | null,
  signal: AbortSignal | undefined,
  mayAppear: boolean,
): Promise<JobResult | null> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      remove()
      timer?.cancel()
      signal?.removeEventListener('abort', abort)
    }
    const settle = (answer: JobResult | null): void => (end(), resolve(answer))
    const fail = (error: unknown): void => (end(), reject(asError(error)))
    const abort = (): void => fail(signal?.reason)
    const remove = results.add(id, { mayAppear, settle, fail })
    const late = (): void => fail(timedOut(id, timeoutMs))
    const timer = timeoutMs === null ? undefined : platform.timer(timeoutMs, late)
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

function timedOut(id: string, timeoutMs: number | null): JobmillError {
  return new JobmillError('RESULT_TIMEOUT', `job ${id} did not end within ${timeoutMs} ms`, {
    fix: 'Await the result again, raise the timeout, or call mill.why(id) to see what the job waits for',
  })
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/** What `result()` returns, or throws, for a stored result. */
export function valueOf(id: string, answer: JobResult | null): unknown {
  if (answer === null) {
    const fix = 'Check the id: the job may have been deleted, or be in another database'
    throw invalidValue('id', id, 'no job has this id', fix, 'JOB_UNKNOWN')
  }
  if (answer.state === 'dead') throw new JobmillError('JOB_DEAD', `job ${id} is dead: ${reasonOf(answer)}`)
  if (answer.state === 'cancelled')
    throw new JobmillError('JOB_CANCELLED', `job ${id} was cancelled: ${reasonOf(answer)}`)
  if (answer.result !== null) return JSON.parse(answer.result)
  if (answer.error === null) return undefined
  const what = `job ${id} is done, but its result could not be stored: ${reasonOf(answer)}`
  throw new JobmillError('RESULT_NOT_KEPT', what)
}

/** Drops the final period, because the error message adds its own. */
function reasonOf({ error }: JobResult): string {
  return (error ?? 'no reason given').replace(/\.$/, '')
}
