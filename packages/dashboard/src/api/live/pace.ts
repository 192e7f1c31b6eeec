/**
 * How often a query is refreshed when the user does nothing. An action of the user refreshes everything at
 * once.
 */
import type { Query } from '@tanstack/react-query'

const KEY = 'atMostEveryMs'

/** For `meta` of a query whose data changes slowly or is expensive. */
export const atMostEvery = (ms: number): Record<string, unknown> => ({ [KEY]: ms })

/** Whether the page may refresh a query on its own. */
export function isDue(
  { meta, state }: Pick<Query, 'meta'> & { readonly state: Pick<Query['state'], 'dataUpdatedAt'> },
  now: number,
): boolean {
  const ms = meta?.[KEY]
  return typeof ms !== 'number' || now - state.dataUpdatedAt >= ms
}
