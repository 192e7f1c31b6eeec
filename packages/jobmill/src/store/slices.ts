/** Splits large calls into slices of one transaction, so that the event loop can run between them. */
import type { NewJob } from '../job/new-job.ts'

/** A store writes this much in about 10 ms. */
const SLICE_BYTES = 1024 * 1024
/** Below this size, a single write is cheaper than a transaction. */
const LARGE_BYTES = 4 * 1024 * 1024

/** One slice with all jobs, unless their total size is large. */
export function slicesOf(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  const total = jobs.reduce((bytes, { payload }) => bytes + payload.length, 0)
  if (total <= LARGE_BYTES) return [jobs]
  const slices: NewJob[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const job of jobs) {
    if (bytes >= SLICE_BYTES) {
      slices.push([])
      bytes = 0
    }
    slices.at(-1)?.push(job)
    bytes += job.payload.length
  }
  return slices
}
