/**
 * Copies everything to the target. Jobs come last: they need the counters, and their ids show how far the
 * transfer has come.
 */
import type { Part } from '../../store/admin/transfer.ts'
import type { Place } from './find-place.ts'
import type { Places } from './places.ts'
import { pagesOf } from './walk.ts'

export interface Way {
  readonly limit: number
  readonly signal: AbortSignal
  /** Called after each page with the number of its jobs. */
  readonly passed: (jobs: number) => void
}

/** Resolves with the number of new jobs. */
export async function transferAll(
  { source, target }: Places,
  after: Place['after'],
  way: Way,
): Promise<number> {
  const { limit, signal, passed } = way
  await target.tools.importRest(await source.tools.exportRest())
  for (const part of ['ticks', 'keys'] as const) await transferPart({ source, target }, part, way)
  let transferred = 0
  for await (const page of pagesOf(source.tools, 'jobs', { after, limit })) {
    signal.throwIfAborted()
    transferred += await target.tools.importItems('jobs', page)
    passed(page.length)
  }
  return transferred
}

async function transferPart<P extends Part>(
  { source, target }: Places,
  part: P,
  { limit, signal }: Way,
): Promise<void> {
  for await (const page of pagesOf<P>(source.tools, part, { after: null, limit })) {
    signal.throwIfAborted()
    await target.tools.importItems(part, page)
  }
}
