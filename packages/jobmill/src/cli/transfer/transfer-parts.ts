/**
 * Copies everything to the target. Jobs come last: they need the counters, and their ids show how far the
 * transfer has come.
 */
import type { Page, Part } from '../../store/admin/transfer.ts'
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
export async function transferAll(places: Places, after: Place['after'], way: Way): Promise<number> {
  const { source, target } = places
  await target.tools.importRest(await source.tools.exportRest())
  for (const part of ['ticks', 'keys'] as const) await transferPart(places, part, null, way)
  return transferPart(places, 'jobs', after, way)
}

async function transferPart<P extends Part>(
  { source, target }: Places,
  part: P,
  after: Page<P>['after'],
  { limit, signal, passed }: Way,
): Promise<number> {
  let transferred = 0
  for await (const page of pagesOf<P>(source.tools, part, { after, limit })) {
    signal.throwIfAborted()
    transferred += await target.tools.importItems(part, page)
    if (part === 'jobs') passed(page.length)
  }
  return transferred
}
