/** The filter of the page with its index. Waits for the kinds, because only they know the declared paths. */
import { useMemo } from 'react'
import { useKinds } from '../../../api/reads.ts'
import type { Filter } from '../filter/filter.ts'
import { indexFor, type PayloadIndex, withIndex } from './payload-index.ts'

interface Indexed {
  readonly filter: Filter
  readonly index: PayloadIndex | null
  /** False while the kinds load. Without them, a search would read all payloads. */
  readonly isReady: boolean
}

export function useIndex(given: Filter): Indexed {
  const { data, isPending } = useKinds()
  return useMemo(() => {
    const index = indexFor(given, data?.kinds ?? [])
    return {
      filter: withIndex(given, index),
      index,
      isReady: given.payload.length === 0 || !isPending,
    }
  }, [given, data, isPending])
}
