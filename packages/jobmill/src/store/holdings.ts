/**
 * The rows that a running job has in other tables. The write that ends its attempt changes these rows too. If
 * one of these tables rejects writes, only the outcomes of jobs with a row in it are affected.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { isEnded, type JobState } from '../job/state.ts'

export type Holding =
  /** A dedupe key: released at the end, held after done, or held after any end. */
  | 'key'
  | 'key-after-done'
  | 'key-after-end'
  /** The order lock of its order key. */
  | 'orderLock'
  | 'permit'
  /** The history is full, so the next attempt deletes the oldest one. */
  | 'history'
  /** Deleted together with a forgotten job. */
  | 'tags'
  | 'attempts'
  /** A cancel was requested, so the final state may differ from the outcome. */
  | 'cancel'

export interface Holder {
  /** As stored: negative if the key stays held after any end. Null without a key. */
  readonly holdMs: number | null
  readonly isOrdered: boolean
  readonly hasPermit: boolean
  /** How many attempts are or may be recorded. */
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

/**
 * The holdings that change when a write moves the job to this state. A job with another attempt keeps its key
 * and its order lock.
 */
export function releasedBy(holdings: readonly Holding[], to: JobState, forgets: boolean): Holding[] {
  return holdings.filter((holding) => {
    if (holding === 'permit' || holding === 'history') return true
    if (holding === 'tags' || holding === 'attempts') return forgets
    return holding !== 'cancel' && isEnded(to)
  })
}
