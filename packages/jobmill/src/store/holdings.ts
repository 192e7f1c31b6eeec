/**
 * What a running job has in tables other than its own. The write that ends its attempt changes these rows too. A table that refuses writes therefore refuses the
 * outcomes of all jobs with a row there, and of no others.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { isEnded, type JobState } from '../job/state.ts'

export type Holding =
  /** A dedupe key: freed at the end, held on after done, or held on however the job ends. */
  | 'key'
  | 'key-after-done'
  | 'key-after-end'
  /** The turn of an order key. */
  | 'orderLock'
  | 'permit'
  /** So many attempts that the oldest one is deleted with the next. */
  | 'history'
  /** Deleted with a job that is forgotten. */
  | 'tags'
  | 'attempts'
  /** A cancel was asked for, so that the job may end otherwise than its outcome says. */
  | 'cancel'

export interface Holder {
  /** As stores keep it: below 0 when the key is held on however the job ends. Null without a key. */
  readonly holdMs: number | null
  readonly isOrdered: boolean
  readonly hasPermit: boolean
  /** How many attempts are recorded, or may be. */
  readonly records: number
}

export function holdingsOf({ holdMs, isOrdered, hasPermit, records }: Holder): Holding[] {
  const holdings: Holding[] = []
  if (holdMs !== null) holdings.push(keyHolding(holdMs))
  if (isOrdered) holdings.push('orderLock')
  if (hasPermit) holdings.push('permit')
  if (records >= DEFAULTS.historyPerJob) holdings.push('history')
  return holdings
}

function keyHolding(holdMs: number): Holding {
  if (holdMs === 0) return 'key'
  return holdMs > 0 ? 'key-after-done' : 'key-after-end'
}

/** Those of a job that a write changes which takes it to this state. A job that has another attempt keeps its key and its turn. */
export function releasedBy(holdings: readonly Holding[], to: JobState, forgets: boolean): Holding[] {
  return holdings.filter((holding) => {
    if (holding === 'permit' || holding === 'history') return true
    if (holding === 'tags' || holding === 'attempts') return forgets
    return holding !== 'cancel' && isEnded(to)
  })
}
