/** Splits large calls into slices of one transaction, so that the event loop can run between them. */
import { bytesOf, type NewJob } from '../../job/enqueue/new-job.ts'

/** A store writes this much in about 10 ms. */
const SLICE_BYTES = 1024 * 1024
/** Below this size, a single write is cheaper than a transaction of several slices. */
const LARGE_BYTES = 4 * 1024 * 1024

/** One slice with all jobs, unless their total size is large. */
export function slicesOf(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  if (!isLarge(jobs)) return [jobs]
  const slices: NewJob[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const job of jobs) {
    if (bytes >= SLICE_BYTES) {
      slices.push([])
      bytes = 0
    }
    slices.at(-1)?.push(job)
    bytes += bytesOf(job)
  }
  return slices
}

function isLarge(jobs: readonly NewJob[]): boolean {
  const chars = jobs.reduce((sum, { payload, metadata }) => sum + payload.length + (metadata?.length ?? 0), 0)
  // A character takes at most three bytes, so a short text needs no exact count.
  if (chars * 3 <= LARGE_BYTES) return false
  return jobs.reduce((sum, job) => sum + bytesOf(job), 0) > LARGE_BYTES
}
