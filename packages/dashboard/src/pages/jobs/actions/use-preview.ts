/**
 * Counts what a bulk action would change. That may scan every job, so it is requested once and not refreshed.
 */
import { useQuery } from '@tanstack/react-query'
import { ask, type Problem } from '../../../api/client.ts'
import type { Read } from '../../../api/reads.ts'
import { STATES } from '../../../api/states.ts'
import type { BulkAct, BulkPreview, FilterBody } from '../../../api/types.ts'
import { toBody, toQuery } from '../filter/address.ts'
import type { Filter } from '../filter/filter.ts'

/**
 * The selected jobs, or all that match a filter. The time is that of the list, so that both mean the same
 * jobs.
 */
export type BulkTarget =
  | { readonly ids: readonly string[] }
  | { readonly filter: Filter; readonly now: number }

export function bodyOf(meant: BulkTarget): FilterBody {
  return 'ids' in meant ? { ids: meant.ids } : toBody(meant.filter, meant.now)
}

/** Ids are part of the URL, which must not become too long. */
const AT_ONCE = 100

export function usePreview(act: BulkAct, meant: BulkTarget): Read<BulkPreview> {
  return useQuery<BulkPreview, Problem>({
    queryKey: ['bulk', act, meant],
    async queryFn({ signal }) {
      if (!('ids' in meant))
        return ask('bulk', { query: { act, ...toQuery(meant.filter, meant.now) }, signal })
      const parts: BulkPreview[] = []
      for (let at = 0; at < meant.ids.length; at += AT_ONCE)
        parts.push(
          await ask<BulkPreview>('bulk', { query: { act, id: meant.ids.slice(at, at + AT_ONCE) }, signal }),
        )
      return sumOf(parts)
    },
    staleTime: 'static',
    gcTime: 0,
  })
}

function sumOf(parts: readonly BulkPreview[]): BulkPreview {
  const byState = Object.fromEntries(
    STATES.map((state) => [state, parts.reduce((sum, part) => sum + (part.byState[state] ?? 0), 0)]),
  )
  return { jobs: parts.reduce((sum, { jobs }) => sum + jobs, 0), byState }
}
