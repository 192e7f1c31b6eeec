/** Runs a bulk action as a job: durable, with progress, and cancellable. */
import { type AnyJob, defineJob } from '../../../job/kind/definition.ts'
import type { JobContext } from '../../../job/context.ts'
import { omitUndefined } from '../../../job/options/omit-undefined.ts'
import { checkFunction } from '../../../job/numbers.ts'
import { BULK_KIND, BULK_QUEUE, type BulkAct, type BulkFilter, type BulkReport } from './bulk.ts'
import type { Mill } from '../../mill.ts'

export interface BulkPayload {
  readonly act: BulkAct
  readonly filter: BulkFilter
  readonly reason?: string
  /** Used by retry: the merge patch of each payload, and who asked for it. */
  readonly patch?: Readonly<Record<string, unknown>>
  readonly by?: string
}

/** `mill` is a function because the mill does not exist yet when its jobs are defined. */
export function bulkJob(mill: () => Pick<Mill, 'bulk'>): AnyJob {
  checkFunction(mill, 'bulkJob', 'Pass a function that returns the mill: bulkJob(() => mill)')
  return defineJob({
    kind: BULK_KIND,
    queue: BULK_QUEUE,
    // Each attempt starts over: jobs that were already changed no longer match.
    maxAttempts: 3,
    async run({ payload, signal, progress }: JobContext<BulkPayload>): Promise<BulkReport> {
      const { act, filter, reason, patch, by } = payload
      const { bulk } = mill()
      // Count first, so that progress can be reported as a share.
      const { jobs } = await bulk.preview(act, filter, { signal })
      progress({ looked: 0, jobs })
      return bulk.run(act, filter, {
        signal,
        progress: (looked) => progress({ looked, jobs }),
        ...omitUndefined({ reason, patch, by }),
      })
    },
  })
}
