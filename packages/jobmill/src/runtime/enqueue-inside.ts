/**
 * `enqueue` and `enqueueMany` for handlers: like those of the mill, or committed together with the outcome of
 * the job.
 */
import type { Client } from '../enqueue/client.ts'
import { mebibytes } from '../enqueue/enqueuer.ts'
import type { JobContext, OptionsInside } from '../job/context.ts'
import { BOUNDS } from '../job/defaults.ts'
import { invalidValue, JobmillError } from '../job/errors.ts'
import type { EnqueueItem, JobHandle } from '../job/enqueue/handle.ts'
import { checkBoolean } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { bytesOf, type NewJob } from '../job/enqueue/new-job.ts'
import { ENQUEUE_OPTIONS } from '../job/enqueue/prepare-jobs.ts'
import type { Attempt } from '../work/attempt.ts'
import { checkLive } from '../work/make-context.ts'

type Target = Parameters<Client<unknown>['prepare']>[0]

export type Inside = Pick<JobContext, 'enqueue' | 'enqueueMany'>

const OPTIONS_INSIDE: readonly string[] = [...ENQUEUE_OPTIONS, 'withCompletion']

type MakeHandle = (id: string) => JobHandle<never>

/**
 * Created for every attempt but used by few, so shared parts are created lazily. `handle` turns an id into a
 * job handle. `mostBytes` bounds all jobs that are enqueued with the completion.
 */
export function enqueueInside(
  attempt: Attempt,
  client: Client<unknown>,
  handle: MakeHandle,
  mostBytes: number = BOUNDS.callBytes,
): Inside {
  let bytes = 0
  let ids: Set<string> | undefined

  async function withCompletion(
    early: readonly NewJob[] | Promise<readonly NewJob[]>,
  ): Promise<JobHandle<never>[]> {
    const jobs: readonly NewJob[] = early instanceof Promise ? await early : early
    checkOpen(attempt)
    // A repeated id is the same job and counts once, as for jobs that are written immediately.
    const seen = (ids ??= new Set())
    const added = jobs.filter(({ id }) => !seen.has(id))
    const total = added.reduce((sum, job) => sum + bytesOf(job), bytes)
    if (total > mostBytes) {
      const what = `the jobs of one completion exceed ${mebibytes(mostBytes)} (got ${mebibytes(total)})`
      const fix = 'Enqueue some of them without withCompletion'
      throw new JobmillError('PAYLOAD_TOO_LARGE', what, { field: 'withCompletion', fix })
    }
    if (seen.size + added.length > BOUNDS.jobsPerCompletion) {
      const what = `this handler enqueued more than ${BOUNDS.jobsPerCompletion} jobs withCompletion`
      const fix = 'Enqueue some of them without withCompletion, or in another job'
      throw new JobmillError('OPTION_INVALID', what, { field: 'withCompletion', fix })
    }
    bytes = total
    for (const { id } of added) seen.add(id)
    attempt.follow(added)
    return jobs.map(({ id }) => handle(id))
  }

  return {
    async enqueue(target: Target, ...call: [] | [payload: unknown, options?: OptionsInside | undefined]) {
      const [payload, options = {}] = call.length === 0 ? [null] : call
      checkObjectKeys(options, 'job', OPTIONS_INSIDE)
      const { withCompletion: together = false, ...own } = options
      if (!checkBoolean(together, 'job.withCompletion'))
        return client.enqueue(target as string, payload, own) as Promise<never>
      if (own.tx !== undefined) throw contradiction()
      checkOpen(attempt)
      const early = client.prepare(target, [{ ...own, payload }], false)
      const [job] = await withCompletion(early)
      return job as never
    },
    async enqueueMany(
      target: Target,
      items: readonly EnqueueItem<unknown>[],
      options: { readonly tx?: unknown; readonly withCompletion?: boolean } = {},
    ) {
      checkObjectKeys(options, 'options', ['tx', 'withCompletion'])
      const { withCompletion: together = false, ...own } = options
      if (!checkBoolean(together, 'options.withCompletion'))
        return client.enqueueMany(target as string, items, own) as Promise<never>
      if (own.tx !== undefined) throw contradiction()
      checkOpen(attempt)
      return withCompletion(client.prepare(target, items, true))
    },
  }
}

/** A job enqueued after the completion can no longer be part of it. */
function checkOpen(attempt: Attempt): void {
  checkLive(attempt)
  if (!attempt.completedInTx) return
  const fix = 'Call enqueue before complete(tx), or pass tx instead of withCompletion'
  throw invalidValue('withCompletion', true, 'cannot be used after complete(tx)', fix, 'ATTEMPT_ENDED')
}

function contradiction(): JobmillError {
  const fix =
    'Pass tx to enqueue in your transaction, or withCompletion to enqueue with the outcome of this job'
  return invalidValue('withCompletion', true, 'cannot be combined with tx', fix, 'OPTION_CONFLICT')
}
