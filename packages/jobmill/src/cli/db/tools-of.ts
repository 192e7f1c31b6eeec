/** The tools of a store, which one of somebody else's need not have. */
import { JobmillError } from '../../job/errors.ts'
import type { Store, ToolStore } from '../../store/store.ts'
import type { StoreTools } from '../../store/tools.ts'

export function toolsOf(store: Store<never>): StoreTools {
  const { tools } = store as Partial<Pick<ToolStore, 'tools'>>
  if (tools !== undefined) return tools
  throw new JobmillError('OPTION_INVALID', 'this store has no tools for its database', {
    field: 'store',
    value: store.name,
    fix: 'Look after it with the tools of whoever made it',
  })
}
