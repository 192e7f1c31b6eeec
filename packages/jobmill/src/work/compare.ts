/**
 * After a claim whose answer was lost, and now and then anyway: what the database believes this instance runs is compared with what it runs. Leases that
 * nobody here knows of are handed back.
 */
import type { Held, Lease } from '../store/claim.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { Attempts } from './attempts.ts'
import { LOST_AFTER_MS } from './dispatcher.ts'

export interface CompareOptions {
  readonly held: () => Promise<Held[]>
  readonly finish: (items: readonly Finish[]) => Promise<Finished[]>
  readonly attempts: Attempts
  /** Claimed, and waiting for a worker. */
  readonly ahead: () => readonly Lease[]
  /** So many are handed back now. */
  readonly found: (jobs: number) => void
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

/** Must not run while a claim is on its way: its leases are not known here yet. */
export async function compare(options: CompareOptions): Promise<void> {
  const { held, finish, attempts, ahead, found, failing, working } = options
  // What ends while the database is asked was ours when it answered.
  const before = new Set([...[...attempts.live].map(({ lease }) => lease), ...ahead()].map(keyOf))
  try {
    const unknown = (await held()).filter(
      (lease) => lease.ageMs >= LOST_AFTER_MS && !before.has(keyOf(lease)),
    )
    working()
    if (unknown.length === 0) return
    found(unknown.length)
    await finish(unknown.map(handedBack))
  } catch (error) {
    failing(error)
  }
}

function keyOf({ id, token }: { readonly id: string; readonly token: number }): string {
  return `${id} ${token}`
}

/** As if it had never been claimed. */
export function handedBack({ id, token }: { readonly id: string; readonly token: number }): Finish {
  return { id, token, outcome: null, transition: { to: 'ready' } }
}
