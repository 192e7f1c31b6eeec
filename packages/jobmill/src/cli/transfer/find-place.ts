/**
 * Finds where an interrupted transfer continues. No state is stored: the ids on both sides show it. Pages are
 * written in id order, so every job before the first missing one exists; writing later ones again changes
 * nothing.
 */
import { JobmillError } from '../../job/errors.ts'
import type { ToolStore } from '../../store/store.ts'
import type { Places } from './places.ts'
import { idsOf, sideBySide } from './walk.ts'

export interface Place {
  /** The last job before the first missing one; null to start with the first job. */
  readonly after: { readonly id: string } | null
  /** How many jobs the source has, and how many of them the target already has. */
  readonly total: number
  readonly there: number
}

export async function findPlace({ source, target }: Places): Promise<Place> {
  await checkBoth({ source, target })
  let [total, there] = [0, 0]
  let after: Place['after'] = null
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
  const { queues, limits, schedules } = await tools.exportRest()
  if (queues.length + limits.length + schedules.length > 0) return
  throw new JobmillError('TRANSFER_REFUSED', `${name} has nothing to transfer`, {
    fix: 'Check that this is the right database',
  })
}

function notEmpty(name: string, what: string): JobmillError {
  return new JobmillError('TRANSFER_REFUSED', `${name} ${what}`, {
    fix: 'Use a new database, or one with an interrupted transfer from the same source',
  })
}
