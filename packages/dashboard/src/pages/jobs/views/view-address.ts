/** The address of a saved view. */
import type { SavedView } from '../../../api/types.ts'
import { fromSearch, toSearch } from '../filter/address.ts'
import type { Filter } from '../filter/filter.ts'

export const viewAddress = ({ search }: Pick<SavedView, 'search'>): string => `/jobs?${search}`

/** Whether the view has this filter, however its parameters are ordered and encoded. */
export function isSameView({ search }: Pick<SavedView, 'search'>, filter: Filter): boolean {
  return toSearch(fromSearch(new URLSearchParams(search)).filter).toString() === toSearch(filter).toString()
}
