/** What needs attention behind an entry of the menu, from the overview, which every page loads. */
import type { Overview } from '../api/types.ts'
import { plural } from '../kit/text/format.ts'

export interface NavCount {
  readonly n: number
  /** For screen readers: `12 dead jobs`. */
  readonly label: string
  readonly isBad: boolean
}

/** Keyed by path. Entries without a count are left out. */
export function navCounts(overview: Counted | undefined): ReadonlyMap<string, NavCount> {
  return new Map(overview === undefined ? [] : countsOf(overview).filter(([, { n }]) => n > 0))
}

type Counted = Pick<Overview, 'problems' | 'queues' | 'unservedKinds'>

function countsOf({ problems, queues, unservedKinds }: Counted): [path: string, count: NavCount][] {
  const issues = problems.error + problems.warning
  const dead = queues.reduce((sum, { counts }) => sum + counts.dead, 0)
  const kinds = unservedKinds.length
  return [
    ['/', { n: issues, label: plural(issues, 'issue'), isBad: problems.error > 0 }],
    ['/errors', { n: dead, label: plural(dead, 'dead job'), isBad: true }],
    [
      '/workers',
      {
        n: kinds,
        label: plural(kinds, 'kind without a worker', 'kinds without a worker'),
        isBad: true,
      },
    ],
  ]
}
