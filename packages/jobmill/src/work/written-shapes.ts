/**
 * Counts outcomes written while others are refused, by shape. Outcomes of one shape go to the same tables, so
 * a table that refuses writes refuses all of them. Only writes of the same shape prove that a refused item is
 * itself at fault.
 */
import type { NewJob } from '../job/new-job.ts'
import type { JobState } from '../job/state.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type Holding, releasedBy } from '../store/holdings.ts'

export interface Shape {
  /** The tables the item is written to. */
  readonly item: string
  /** What the job holds in other tables that the write changes too. */
  readonly released: readonly Holding[]
}

/** The number of written outcomes of each shape at a point in time. */
export type Moment = ReadonlyMap<string, number>

export interface WrittenShapes {
  add(items: readonly Finish[], replies: readonly Finished[]): void
  now(): Moment
  /** How many outcomes were written between two points to all the tables of this shape. */
  between(first: Moment, last: Moment, shape: Shape): number
  clear(): void
}

export function writtenShapes(): WrittenShapes {
  const shapes = new Map<string, Shape>()
  const counts = new Map<string, number>()
  return {
    add(items, replies) {
      for (const [at, item] of items.entries()) {
        const shape = writtenShape(item, replies[at])
        if (shape === null) continue
        const key = `${shape.item} ${shape.released.join(' ')}`
        shapes.set(key, shape)
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    },
    now: () => new Map(counts),
    between(first, last, { item, released }) {
      let sum = 0
      for (const [key, shape] of shapes)
        if (shape.item === item && released.every((one) => shape.released.includes(one)))
          sum += (last.get(key) ?? 0) - (first.get(key) ?? 0)
      return sum
    },
    clear() {
      shapes.clear()
      counts.clear()
    },
  }
}

/** Null when the reply proves nothing: nothing was written, or something other than the item. */
function writtenShape(item: Finish, reply: Finished | undefined): Shape | null {
  if (reply?.accepted !== true || reply.again === true || reply.state !== stateAsked(item)) return null
  if (reply.followUps.some(({ outcome }) => outcome === 'duplicate')) return null
  return { item: shapeOf(item), released: reply.released ?? [] }
}

/** The shape an item would be written in. Null when unknown: a requested cancel may change the outcome. */
export function shapeToWrite(item: Finish, holdings: readonly Holding[]): Shape | null {
  const { transition } = item
  if (transition.to !== 'done' && holdings.includes('cancel')) return null
  const forgets = transition.to === 'done' && transition.forget === true
  return { item: shapeOf(item), released: releasedBy(holdings, stateAsked(item), forgets) }
}

export function shapeOf(item: Finish): string {
  const { transition, outcome, followUps, cool } = item
  const forgets = transition.to === 'done' && transition.forget === true
  const jobs =
    followUps === undefined ? 'quarantined' : [...new Set(followUps.map(followUpShape))].toSorted().join(',')
  return [stateAsked(item), forgets, outcome === null, cool !== undefined, jobs].join(' ')
}

/** Includes queue and kind, because new names are written to tables of their own. */
function followUpShape({ queue, kind, dedupe, orderKey, tags, delayMs, dueAt }: NewJob): string {
  const isLater = delayMs > 0 || dueAt !== null
  return [queue, kind, dedupe?.onConflict, orderKey !== null, tags.length > 0, isLater].join(' ')
}

function stateAsked({ transition }: Finish): JobState {
  return transition.to === 'scheduled' && transition.delayMs <= 0 ? 'ready' : transition.to
}
