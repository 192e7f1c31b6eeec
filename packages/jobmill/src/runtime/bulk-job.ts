/** Acts on many jobs as a job of their own: durable, with progress, and cancelled like any other. */
import { type AnyJob, defineJob } from '../job/definition.ts'
import type { JobContext } from '../job/context.ts'
import { BULK_KIND, BULK_QUEUE, type BulkAct, type BulkFilter, type BulkReport } from './bulk.ts'
import type { Mill } from './mill.ts'

export interface BulkPayload {
  readonly act: BulkAct
  readonly filter: BulkFilter
  readonly reason?: string
}

/** `mill` is asked for when a job runs: the mill does not exist yet when its jobs are named. */
export function bulkJob(mill: () => Pick<Mill, 'bulk'>): AnyJob {
  return defineJob({
    kind: BULK_KIND,
    queue: BULK_QUEUE,
    // Each begins anew: what was acted on already is not found again.
    maxAttempts: 3,
    async run({ payload, signal, progress }: JobContext<BulkPayload>): Promise<BulkReport> {
      const { act, filter, reason } = payload
      const { bulk } = mill()
      // Counted first, so that it can be told how much of it is done.
      const { jobs } = await bulk.preview(act, filter, { signal })
      progress({ looked: 0, jobs })
      return bulk.run(act, filter, {
        signal,
        progress: (looked) => progress({ looked, jobs }),
        ...(reason !== undefined && { reason }),
      })
    },
  })
}
