/** The URL of the job list for an error group. */
import type { ErrorGroup, State } from '../../api/types.ts'

export function jobsAddress({ kind, text }: Pick<ErrorGroup, 'kind' | 'text'>, state?: State): string {
  const search = new URLSearchParams({ kind })
  if (state !== undefined) search.set('state', state)
  if (text !== '') search.set('errorText', text)
  return `/jobs?${search.toString()}`
}
