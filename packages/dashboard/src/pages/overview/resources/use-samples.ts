/**
 * Resource samples of the last minutes. The store keeps no series of them, so the dashboard collects them
 * while it is open.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, type Problem } from '../../../api/client.ts'
import { atMostEvery } from '../../../api/live/pace.ts'
import type { Read } from '../../../api/reads.ts'
import type { Resources } from '../../../api/types.ts'

const KEY = ['resources']
/** The server samples its database every 5 s at most. */
const EVERY_MS = 10_000
const KEPT_MS = 15 * 60_000

/** Oldest first; at least one after the first response. */
export function useSamples(): Read<readonly Resources[]> {
  const client = useQueryClient()
  return useQuery<readonly Resources[], Problem>({
    queryKey: KEY,
    async queryFn({ signal }) {
      const newest = await ask<Resources>('resources', { signal })
      return withNewest(client.getQueryData<readonly Resources[]>(KEY) ?? [], newest)
    },
    meta: atMostEvery(EVERY_MS),
    gcTime: KEPT_MS,
  })
}

/** A clock that was set back invalidates the earlier samples. */
function withNewest(before: readonly Resources[], newest: Resources): readonly Resources[] {
  return [...before.filter(({ at }) => at < newest.at && at >= newest.at - KEPT_MS), newest]
}
