/** Carries everything over. Jobs come last, because they need the counters, and because which of them are there tells how far it has come. */
import type { Part } from '../../store/transfer.ts'
import type { Place } from './find-place.ts'
import type { Places } from './places.ts'
import { pagesOf } from './walk.ts'

export interface Way {
  readonly limit: number
  readonly signal: AbortSignal
  /** Told after each page how many jobs it had. */
  readonly passed: (jobs: number) => void
}

/** How many jobs were new. */
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
