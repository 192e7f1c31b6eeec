/**
 * Jobs move between tables, and keys between jobs. A single snapshot may miss a job or a key that is moving,
 * so statements look again.
 */
import { JobmillError } from '../job/errors.ts'

const MOST_LOOKS = 20

/** Looks again for the items that `look` returns, until it returns none. Returns those that kept moving. */
export async function lookAgain<T>(
  items: readonly T[],
  look: (open: readonly T[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  let open = items
  for (let looks = 0; open.length > 0 && looks < MOST_LOOKS; looks += 1) open = await look(open)
  return open
}

export function keptChanging(what: string): JobmillError {
  return new JobmillError('STORE_BUSY', what, { fix: 'Retry the call' })
}
