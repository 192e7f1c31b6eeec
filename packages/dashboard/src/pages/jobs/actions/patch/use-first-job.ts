/** A job that a bulk retry would change, for the preview of a patch. */
import { useJobs } from '../../../../api/reads.ts'
import { toQuery } from '../../filter/address.ts'
import type { BulkTarget } from '../use-preview.ts'

const RETRYABLE = ['dead', 'cancelled']

/** Null while it is not known, or if nothing matches. */
export function useFirstJob(meant: BulkTarget, enabled: boolean): string | null {
  const query = 'ids' in meant ? {} : { state: RETRYABLE, ...toQuery(meant.filter, meant.now), limit: 1 }
  const read = useJobs(query, {
    enabled: enabled && !('ids' in meant),
    atMostEveryMs: Number.POSITIVE_INFINITY,
  })
  if ('ids' in meant) return meant.ids[0] ?? null
  return read.data?.jobs[0]?.id ?? null
}
