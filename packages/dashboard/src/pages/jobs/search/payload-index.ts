/** Chooses the index for a payload filter, where the kinds of the filter declare its path. */
import type { Filter, PayloadValue } from '../filter/filter.ts'

interface Kind {
  readonly kind: string
  readonly indexedPayload: readonly string[]
}

/** Longer values have no index entry. */
const MOST_CHARS = 200

/** The path of the filter that has an index, and the kinds that declare it. */
export interface PayloadIndex {
  readonly path: string
  readonly kinds: readonly string[]
}

/** Null has no index entry, and its text is the same as that of the string. */
const mayHaveEntry = ({ value }: PayloadValue): boolean => value.length <= MOST_CHARS && value !== 'null'

/** The first value of the filter that has an index, if any. */
export function indexFor({ kind, payload }: Filter, kinds: readonly Kind[]): PayloadIndex | null {
  const meant = kinds.filter((one) => kind === null || one.kind === kind)
  for (const { path } of payload.filter(mayHaveEntry)) {
    const declaring = meant.filter(({ indexedPayload }) => indexedPayload.includes(path))
    if (declaring.length > 0) return { path, kinds: declaring.map((one) => one.kind) }
  }
  return null
}

/** The filter with the value that the server should look up in the index. */
export function withIndex(filter: Filter, index: PayloadIndex | null): Filter {
  if (index === null || filter.readsAll) return filter
  const payload = filter.payload.map((one) =>
    one.path === index.path ? { ...one, isIndexed: true as const } : one,
  )
  return { ...filter, payload }
}
