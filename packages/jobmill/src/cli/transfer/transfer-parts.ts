/** Copies a database to another, from where an interrupted transfer ended. */
import type { JobmillError } from '../../job/errors.ts'
import type { ToolStore } from '../../store/store.ts'
import type { Page, Part } from '../../store/admin/transfer.ts'
import { type Places, refused } from './places.ts'
import { idsOf, pagesOf, sideBySide } from './walk.ts'

type After = { readonly id: string } | null

export interface Way {
  readonly limit: number
  readonly signal: AbortSignal
  /** Called after each page with the number of its jobs. */
  readonly passed: (jobs: number) => void
}

/**
 * Copies everything to the target. Jobs come last: they need the counters, and their ids show how far the
 * transfer has come. Resolves with the number of new jobs.
 */
export async function transferAll(places: Places, after: After, way: Way): Promise<number> {
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

/**
 * Finds where an interrupted transfer continues. It compares the ids on both sides, so a transfer stores no
 * state. Pages are written in id order, so every job before the first missing one exists; writing later ones
 * again changes nothing. Returns the last job before the first missing one, or null to start with the first
 * job; how many jobs the source has, and how many of them the target already has.
 */
export async function findPlace({ source, target }: Places) {
  await checkBoth({ source, target })
  let [total, there] = [0, 0]
  let after: After = null
  let isMissing = false
  for await (const pair of sideBySide(idsOf(source.tools), idsOf(target.tools))) {
    if (pair.source === undefined)
      throw notEmpty(target.name, `has job ${pair.id}, which ${source.name} does not have`)
    total += 1
    if (pair.target === undefined) isMissing = true
    else there += 1
    if (!isMissing) after = { id: pair.id }
  }
  return { after, total, there }
}

/**
 * A target with higher counters than the source has run jobs of its own, so merging could revive deleted
 * jobs.
 */
async function checkBoth({ source, target }: Places): Promise<void> {
  const [from, to] = await Promise.all([source.tools.exportRest(), target.tools.exportRest()])
  if (to.lastToken > from.lastToken || to.lastPlace > from.lastPlace)
    throw notEmpty(target.name, `has run jobs independently of ${source.name}`)
}

export async function checkNotEmpty({ name, tools }: ToolStore<never>): Promise<void> {
  const { queues, limits, schedules, alerts, views } = await tools.exportRest()
  if (queues.length + limits.length + schedules.length + alerts.length + views.length > 0) return
  throw refused(`${name} has nothing to transfer`, 'Check that this is the right database')
}

function notEmpty(name: string, what: string): JobmillError {
  const fix = 'Use a new database, or one with an interrupted transfer from the same source'
  return refused(`${name} ${what}`, fix)
}
