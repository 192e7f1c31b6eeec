/**
 * `enqueue` and `enqueueMany` for handlers: like those of the mill, or committed together with the outcome of
 * the job.
 */
import type { Client } from '../enqueue/client.ts'
import { mebibytes } from '../enqueue/enqueuer.ts'
import type { EnqueueInside, EnqueueManyInside, OptionsInside } from '../job/context.ts'
import { BOUNDS } from '../job/defaults.ts'
import { JobmillError } from '../job/errors.ts'
import type { EnqueueItem, JobHandle } from '../job/handle.ts'
import { checkBoolean } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { bytesOf, type NewJob } from '../job/new-job.ts'
import { ENQUEUE_OPTIONS } from '../job/prepare-jobs.ts'
import type { Attempt } from '../work/attempt.ts'
import { checkLive } from '../work/make-context.ts'

type Target = Parameters<Client<unknown>['prepare']>[0]

export interface Inside {
  readonly enqueue: EnqueueInside
  readonly enqueueMany: EnqueueManyInside
}

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
    // An id that was enqueued before is the same job, as it is for jobs that are written at once.
    const seen = (ids ??= new Set())
    const added = jobs.filter(({ id }) => !seen.has(id))
    const total = added.reduce((sum, job) => sum + bytesOf(job), bytes)
    if (total > mostBytes) {
      const what = `the jobs of this completion are ${mebibytes(total)}, more than ${mebibytes(mostBytes)}`
      const fix = 'Enqueue some of them without withCompletion'
      throw new JobmillError('PAYLOAD_TOO_LARGE', what, { field: 'items', fix })
    }
    if (seen.size + added.length > BOUNDS.jobsPerCompletion)
      throw new JobmillError(
        'OPTION_INVALID',
        `a completion has more than ${BOUNDS.jobsPerCompletion} jobs`,
        {
          field: 'withCompletion',
          fix: 'Enqueue some of them without withCompletion, or in another job',
        },
      )
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
  throw new JobmillError('ATTEMPT_ENDED', 'cannot be used after complete(tx)', {
    field: 'withCompletion',
    value: 'true',
    fix: 'Call enqueue before complete(tx), or pass tx instead of withCompletion',
  })
}

function contradiction(): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'cannot be combined with tx', {
    field: 'withCompletion',
    value: 'true',
    fix: 'Pass tx to enqueue in your transaction, or withCompletion to enqueue with the outcome of this job',
  })
}
