/** Tags that may hold the value of a payload filter: `cus_4711`, `customer:cus_4711`, `id:cus_4711`. */
import type { JobSummary } from '../../../api/types.ts'
import type { Filter } from '../filter/filter.ts'

const MOST_GUESSES = 4

/** Tags of jobs that match come first, then the value alone, or after a part of its path. */
export function guessTags({ payload, tags }: Filter, matches: readonly JobSummary[]): readonly string[] {
  const [sought] = payload
  if (sought === undefined || sought.value === '' || tags.length > 0) return []
  const { path, value } = sought
  const seen = matches.flatMap((job) => job.tags).filter((tag) => tag === value || tag.endsWith(`:${value}`))
  const parts = path.split('.').slice(-2)
  return [...new Set([...seen, value, ...parts.map((part) => `${part}:${value}`)])].slice(0, MOST_GUESSES)
}

/** The same filter with a tag instead of the value in the payload. */
export function withTag(filter: Filter, tag: string): Filter {
  return { ...filter, tags: [tag], payload: filter.payload.slice(1) }
}
