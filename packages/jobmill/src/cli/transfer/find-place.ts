/**
 * Where a move goes on. Nothing is noted anywhere: which jobs are there tells it, by their ids on both sides. Pages are carried by id, so that all before the first
 * that is missing are there; some behind it may be too, and carrying them again changes nothing.
 */
import { JobmillError } from '../../job/errors.ts'
import type { ToolStore } from '../../store/store.ts'
import type { Places } from './places.ts'
import { idsOf, sideBySide } from './walk.ts'

export interface Place {
  /** The last job before the first that is missing; null to begin with the first. */
  readonly after: { readonly id: string } | null
  /** How many jobs there are to move, and how many of them are there already. */
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

/** A target that has given out places or tokens of its own has a life of its own: jobs that have ended and gone there would come back. */
async function checkBoth({ source, target }: Places): Promise<void> {
  const [from, to] = await Promise.all([source.tools.exportRest(), target.tools.exportRest()])
  if (to.lastToken > from.lastToken || to.lastPlace > from.lastPlace)
    throw notEmpty(target.name, `has been worked on apart from ${source.name}`)
}

export async function checkNotEmpty({ name, tools }: ToolStore<never>): Promise<void> {
  const { queues, limits, schedules } = await tools.exportRest()
  if (queues.length + limits.length + schedules.length > 0) return
  throw new JobmillError('TRANSFER_REFUSED', `${name} has nothing that could be moved`, {
    fix: 'See whether it is the right one',
  })
}

function notEmpty(name: string, what: string): JobmillError {
  return new JobmillError('TRANSFER_REFUSED', `${name} ${what}`, {
    fix: 'Move to a database that is new, or that a move from the same source was broken off in',
  })
}
