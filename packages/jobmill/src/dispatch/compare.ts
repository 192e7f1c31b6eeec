/**
 * Compares the leases in the database with the jobs this instance knows, after a lost claim reply and
 * periodically. Leases that this instance does not know are released.
 */
import type { Trouble } from '../job/attempt/trouble.ts'
import type { Held, Lease } from '../store/types/claim.ts'
import { type Finish, type Finished, releaseOf } from '../store/types/finish.ts'
import { LOST_AFTER_MS } from './plan.ts'

interface CompareOptions extends Trouble {
  readonly held: () => Promise<Held[]>
  readonly finish: (items: readonly Finish[]) => Promise<Finished[]>
  /** The leases of running jobs and of the prefetch buffer. */
  readonly known: () => Iterable<Pick<Lease, 'id' | 'token'>>
  /** Reports how many leases are released. */
  readonly found: (jobs: number) => void
}

/** The delay before a retry when the database did not answer. */
const RETRY_MS = 1_000

/**
 * Must not run during a claim, because its leases are not known yet. Returns the delay in ms until the next
 * comparison: for unknown leases too young to count as lost, or after a database error.
 */
export async function compare(options: CompareOptions): Promise<number | null> {
  const { held, finish, known, found, failing, working } = options
  const knownKeys = (): Set<string> => new Set([...known()].map(keyOf))
  // A job that ends during the query was ours when the database answered, and a dispatched job may arrive
  // during the query. So check before and after.
  const before = knownKeys()
  try {
    const answer = await held()
    const after = knownKeys()
    const unknown = answer.filter((lease) => !before.has(keyOf(lease)) && !after.has(keyOf(lease)))
    working()
    const lost = unknown.filter(({ ageMs }) => ageMs >= LOST_AFTER_MS)
    const young = unknown.filter(({ ageMs }) => ageMs < LOST_AFTER_MS)
    if (lost.length > 0) {
      found(lost.length)
      await finish(lost.map(releaseOf))
    }
    return young.length === 0 ? null : LOST_AFTER_MS - Math.min(...young.map(({ ageMs }) => ageMs))
  } catch (error) {
    failing(error)
    return RETRY_MS
  }
}

function keyOf({ id, token }: { readonly id: string; readonly token: number }): string {
  return `${id} ${token}`
}
