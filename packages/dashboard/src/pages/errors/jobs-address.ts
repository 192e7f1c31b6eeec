/** The URL of the job list for an error group. */
import type { Range } from '../../api/range.ts'
import type { ErrorGroup, State } from '../../api/types.ts'

interface Which {
  readonly state?: State
  /** When the jobs failed. Null: at any time. */
  readonly range: Range | null
}

export function jobsAddress(
  { kind, text }: Pick<ErrorGroup, 'kind' | 'text'>,
  { state, range }: Which,
): string {
  const search = new URLSearchParams({ kind })
  if (state !== undefined) search.set('state', state)
  if (range?.preset === null) {
    const { from, to } = range.ends()
    search.set('failedFrom', String(from))
    search.set('failedBefore', String(to))
  } else if (range !== null) search.set('failedFrom', range.preset)
  if (text !== '') search.set('errorText', text)
  return `/jobs?${search.toString()}`
}
