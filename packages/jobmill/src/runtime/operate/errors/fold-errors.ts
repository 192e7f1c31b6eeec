/**
 * Folds error groups whose messages differ in free text. When more than 20 groups of a kind share a fold key,
 * they become one group. Groups that share several keys are joined.
 */
import { commonStart } from '../../../job/grouping/fold.ts'
import { constantsOf } from '../../../job/grouping/shape.ts'

/** The groups that may share a key and are still listed one by one. */
const MOST_APART = 20
/** The keys of one folded group, which bulk actions accept. */
export const MOST_KEYS = 100

/** Jobs whose errors have one fingerprint, as a report collects them. */
export interface Gathered {
  /** For a folded group: its fold keys, and fingerprints of groups that the keys do not cover. */
  readonly fingerprint: string
  readonly kind: string
  shape: string
  /** The constant parts of the shape that all errors of the group contain, longest first. */
  literals: readonly string[]
  readonly queues: Set<string>
  /** When each job of the group failed. */
  readonly at: number[]
  /** How many of them ran on each version of the application. */
  readonly versions: Map<string | null, number>
  dead: number
  firstAt: number
  lastAt: number
  /** Where the latest error was thrown. */
  frame: string | null
  example: { readonly id: string; readonly error: string }
  /** How many of the jobs have each fold key. */
  readonly keys: Map<string, number>
  /** Whether one of the errors contains the text that was searched for. */
  matches: boolean
  /** How many groups were folded into this one. 0 unless folded. */
  readonly folded: number
}

export function foldErrors(groups: readonly Gathered[]): Gathered[] {
  const sharing = new Map<string, Gathered[]>()
  for (const group of groups)
    for (const key of group.keys.keys()) {
      const others = sharing.get(key)
      if (others === undefined) sharing.set(key, [group])
      else others.push(group)
    }
  const folds = new Map<Gathered, Fold>()
  for (const [key, members] of sharing) if (members.length > MOST_APART) join(folds, key, members)
  const apart = groups.filter((group) => !folds.has(group))
  return [...apart, ...[...new Set(folds.values())].flatMap(foldedGroups)]
}

interface Fold {
  readonly keys: Set<string>
  readonly members: Set<Gathered>
}

/** Also joins the folds that have a member in common. */
function join(folds: Map<Gathered, Fold>, key: string, members: readonly Gathered[]): void {
  const joined: Fold = { keys: new Set([key]), members: new Set(members) }
  for (const fold of new Set(members.map((group) => folds.get(group)))) {
    if (fold === undefined) continue
    for (const one of fold.keys) joined.keys.add(one)
    for (const member of fold.members) joined.members.add(member)
  }
  for (const member of joined.members) folds.set(member, joined)
}

function foldedGroups({ keys, members }: Fold): Gathered[] {
  const groups = [...members]
  // A bulk action must reach every job of the group, and some may have been thrown elsewhere.
  const uncovered = groups.filter(
    (group) => ![...keys].some((key) => group.keys.get(key) === group.at.length),
  )
  const parts = [...keys, ...uncovered.map(({ fingerprint }) => fingerprint)].toSorted()
  if (parts.length > MOST_KEYS) return groups
  const latest = groups.reduce((a, b) => (b.lastAt > a.lastAt ? b : a))
  const shape = commonStart(groups.map((group) => group.shape))
  const contained = (part: string): boolean =>
    part !== '' && groups.every(({ literals }) => literals.some((literal) => literal.includes(part)))
  return [
    {
      ...latest,
      fingerprint: parts.join(','),
      shape,
      literals: constantsOf(shape)
        .filter(contained)
        .toSorted((a, b) => b.length - a.length),
      queues: new Set(groups.flatMap(({ queues }) => [...queues])),
      at: groups.flatMap(({ at }) => at),
      versions: sumOf(groups.map(({ versions }) => versions)),
      dead: groups.reduce((sum, { dead }) => sum + dead, 0),
      firstAt: Math.min(...groups.map(({ firstAt }) => firstAt)),
      matches: groups.some(({ matches }) => matches),
      frame: groups.every(({ frame }) => frame === latest.frame) ? latest.frame : null,
      folded: groups.length,
    },
  ]
}

function sumOf<Key>(counts: readonly ReadonlyMap<Key, number>[]): Map<Key, number> {
  const sums = new Map<Key, number>()
  for (const [key, n] of counts.flatMap((count) => [...count])) sums.set(key, (sums.get(key) ?? 0) + n)
  return sums
}
