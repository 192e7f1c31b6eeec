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

/** When the database could not be asked. */
const ASK_AGAIN_MS = 1_000

/**
 * Must not run while a claim is on its way: its leases are not known here yet. Answers in how many milliseconds there may be more to find: what nobody knows
 * of and is too young to count as lost, or all of it when the database did not answer.
 */
export async function compare(options: CompareOptions): Promise<number | null> {
  const { held, finish, attempts, ahead, found, failing, working } = options
  const here = (): Set<string> =>
    new Set([...[...attempts.live].map(({ lease }) => lease), ...ahead()].map(keyOf))
  // What ends while the database is asked was ours when it answered; and what was handed over may become known meanwhile.
  const before = here()
  try {
    const answer = await held()
    const after = here()
    const unknown = answer.filter((lease) => !before.has(keyOf(lease)) && !after.has(keyOf(lease)))
    working()
    const [lost, young] = parted(unknown, ({ ageMs }) => ageMs >= LOST_AFTER_MS)
    if (lost.length > 0) {
      found(lost.length)
      await finish(lost.map(handedBack))
    }
    return young.length === 0 ? null : LOST_AFTER_MS - Math.min(...young.map(({ ageMs }) => ageMs))
  } catch (error) {
    failing(error)
    return ASK_AGAIN_MS
  }
}

function parted<T>(list: readonly T[], isIt: (one: T) => boolean): [T[], T[]] {
  return [list.filter((one) => isIt(one)), list.filter((one) => !isIt(one))]
}

function keyOf({ id, token }: { readonly id: string; readonly token: number }): string {
  return `${id} ${token}`
}

/** As if it had never been claimed. */
export function handedBack({ id, token }: { readonly id: string; readonly token: number }): Finish {
  return { id, token, outcome: null, transition: { to: 'ready' } }
}
