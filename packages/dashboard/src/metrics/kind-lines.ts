/** Builds the lines of the charts of a kind. */
import type { Series } from '../api/types.ts'
import type { Line } from '../kit/charts/line.ts'
import { type Bins, highestIn, ratesIn } from './bins.ts'
import { shareLines } from './lines.ts'

type Points = Series['kinds'][number]['points']

const ENDED = [
  ['done', 'done', 'done'],
  ['retried', 'retried', 'ready'],
  ['timedOut', 'timed out', 'series-5'],
  ['dead', 'dead', 'dead'],
  ['cancelled', 'cancelled', 'cancelled'],
] as const

export function kindEnds(bins: Bins, points: Points): Line[] {
  return ENDED.map(([end, name, colour]) => ({
    name,
    colour,
    values: ratesIn(bins, points, ({ ended }) => ended[end]),
  }))
}

export function kindRunTimes(bins: Bins, points: Points): Line[] {
  return shareLines((share) => highestIn(bins, points, ({ running }) => running[share]))
}
