/** `mill.run`: enqueues a job and awaits its result in one call. */
import { checkBoolean, checkSignal } from '../job/numbers.ts'
import { durationMs } from '../job/duration.ts'
import { JobmillError } from '../job/errors.ts'
import type { EnqueuedJob, EnqueueOptions, ResultOptions } from '../job/enqueue/handle.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import { checkObject } from '../job/options/known-keys.ts'
import { omitUndefined } from '../job/options/omit-undefined.ts'
import type { Client } from './client.ts'

/** As for `enqueue`, except that `timeout` is how long to wait. Attempts have the timeout of the kind. */
export interface RunOptions extends Omit<EnqueueOptions, 'timeout'>, ResultOptions {
  /**
   * Cancels the job when the wait ends early, by the timeout or by the signal (default false: the job
   * continues). A job that another call enqueued is never cancelled.
   */
  readonly cancelOnTimeout?: boolean
}

export interface Run {
  run(kind: string): Promise<unknown>
  run<Result>(job: JobKind<null, Result>): Promise<Result>
  run(kind: string, payload: unknown, options?: RunOptions): Promise<unknown>
  /**
   * Enqueues a job and resolves to its result, in whichever process it runs. Rejects like `result()`:
   * RESULT_TIMEOUT after `timeout`, JOB_DEAD, JOB_CANCELLED.
   */
  run<Input, Result>(job: JobKind<Input, Result>, payload: Input, options?: RunOptions): Promise<Result>
}

export interface RunTools {
  readonly client: Pick<Client<unknown>, 'enqueue'>
  readonly cancel: (id: string, options: { readonly reason: string }) => Promise<unknown>
}

export function runApi({ client, cancel }: RunTools): Run {
  return {
    async run(target: string | JobKind, ...call: [] | [payload: unknown, options?: RunOptions | undefined]) {
      const [payload, options = {}] = call.length === 0 ? [null] : call
      checkObject(options, 'options', "{ timeout: '10s' }, or omit it")
      if ('tx' in options) throw noTransaction()
      const { timeout, signal, cancelOnTimeout = false, ...own } = options
      // Checked before the job is written.
      if (timeout !== undefined) durationMs(timeout, 'options.timeout')
      checkBoolean(cancelOnTimeout, 'options.cancelOnTimeout')
      checkSignal(signal, 'options.signal')
      signal?.throwIfAborted()
      const job: EnqueuedJob<never> = await client.enqueue(target as JobKind<unknown, never>, payload, own)
      try {
        return await job.result(omitUndefined({ timeout, signal }))
      } catch (error) {
        if (cancelOnTimeout && job.outcome === 'enqueued' && endedEarly(error, signal))
          await cancel(job.id, { reason: 'the caller of run stopped waiting' })
        throw error
      }
    },
  }
}

/** The job would not exist before the commit, and the commit would wait for its result. */
function noTransaction(): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'run cannot wait for a job of an open transaction', {
    field: 'tx',
    fix: 'Enqueue in the transaction, commit it, and then await job.result()',
  })
}

function endedEarly(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || (error as { readonly code?: unknown }).code === 'RESULT_TIMEOUT'
}
