/** Computes recent metrics and those of an hour earlier. */
import type { ChartCounter, ChartLevel, QueuePoints } from '../../../api/charts/charts.ts'

export const MINUTE = 60_000
/** The current values cover this many minutes, including the one in progress. */
export const RECENT_MINUTES = 5

type Queues = readonly QueuePoints[]

export interface Stretch {
  readonly from: number
  readonly to: number
}

/** Full minutes, plus the part of the current minute that has passed. */
export function recentOf(now: number): Stretch {
  return { from: now - (now % MINUTE) - (RECENT_MINUTES - 1) * MINUTE, to: now }
}

export function hourBefore({ from }: Stretch): Stretch {
  return { from: from - 60 * MINUTE, to: from - 60 * MINUTE + RECENT_MINUTES * MINUTE }
}

function countIn(queues: Queues, counter: ChartCounter, { from, to }: Stretch): number {
  let sum = 0
  for (const { points } of queues)
    for (const { at, counters } of points) if (at >= from && at < to) sum += counters[counter]
  return sum
}

export function perSecondIn(queues: Queues, counter: ChartCounter, stretch: Stretch): number {
  return countIn(queues, counter, stretch) / Math.max(1, (stretch.to - stretch.from) / 1_000)
}

/** The success rate of the attempts that succeeded or failed; null when there were none. */
export function successIn(queues: Queues, stretch: Stretch): number | null {
  const done = countIn(queues, 'done', stretch)
  const all = done + countIn(queues, 'retried', stretch) + countIn(queues, 'dead', stretch)
  return all === 0 ? null : done / all
}

/** The last value of each queue up to the end of the period; null when there is none. */
export function levelsAt(queues: Queues, level: ChartLevel, { to }: Stretch): readonly number[] | null {
  const known = queues.flatMap(({ points }) => {
    const last = points.findLast(({ at, counts }) => at < to && counts[level] !== null)
    return last?.counts[level] ?? []
  })
  return known.length === 0 ? null : known
}

export interface Change {
  readonly direction: 'up' | 'down' | 'same'
  readonly words: string
  readonly verdict: 'better' | 'worse' | null
}

interface Words {
  readonly format: (difference: number) => string
  /** What an increase means; null when it is neutral. */
  readonly upIs: 'better' | 'worse' | null
  /** Differences below this share of the larger value count as no change. */
  readonly noise?: number
}

export function changeOf(now: number | null, before: number | null, words: Words): Change | null {
  if (now === null || before === null) return null
  const difference = now - before
  const { format, upIs, noise = 0 } = words
  if (Math.abs(difference) <= noise * Math.max(now, before))
    return { direction: 'same', words: 'no change', verdict: null }
  const isUp = difference > 0
  const downIs = upIs === null ? null : upIs === 'better' ? 'worse' : 'better'
  return {
    direction: isUp ? 'up' : 'down',
    words: `${isUp ? '+' : '−'}${format(Math.abs(difference))}`,
    verdict: isUp ? upIs : downIs,
  }
}
