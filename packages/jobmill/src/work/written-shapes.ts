/**
 * Counts the outcomes that are written while others are refused, by shape. Outcomes of one shape are written to the same tables, so that a table that refuses writes
 * refuses all of them. Only outcomes of its own shape show that a refused one is at fault itself.
 */
import type { NewJob } from '../job/new-job.ts'
import type { JobState } from '../job/state.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type Holding, releasedBy } from '../store/holdings.ts'

export interface Shape {
  /** What the item says of the tables that it is written to. */
  readonly item: string
  /** What the job has in other tables that the write changes too. */
  readonly released: readonly Holding[]
}

/** How many outcomes of each shape were written up to a moment. */
export type Moment = ReadonlyMap<string, number>

export interface WrittenShapes {
  add(items: readonly Finish[], replies: readonly Finished[]): void
  now(): Moment
  /** How many were written between two moments that went to all the tables of this shape. */
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

/** Null when the reply proves nothing: nothing was written, or something else than the item asked for. */
function writtenShape(item: Finish, reply: Finished | undefined): Shape | null {
  if (reply?.accepted !== true || reply.again === true || reply.state !== stateAsked(item)) return null
  if (reply.followUps.some(({ outcome }) => outcome === 'duplicate')) return null
  return { item: shapeOf(item), released: reply.released ?? [] }
}

/** The shape that an item would be written in. Null when that cannot be known: a cancel that was asked for may end the job in another way. */
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

/** Queue and kind too: names that are new are written to tables of their own. */
function followUpShape({ queue, kind, dedupe, orderKey, tags, delayMs, dueAt }: NewJob): string {
  const isLater = delayMs > 0 || dueAt !== null
  return [queue, kind, dedupe?.onConflict, orderKey !== null, tags.length > 0, isLater].join(' ')
}

function stateAsked({ transition }: Finish): JobState {
  return transition.to === 'scheduled' && transition.delayMs <= 0 ? 'ready' : transition.to
}
