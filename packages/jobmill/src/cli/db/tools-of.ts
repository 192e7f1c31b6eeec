/** Returns the admin tools of a store. A third-party store may not have any. */
import { JobmillError } from '../../job/errors.ts'
import type { Store, ToolStore } from '../../store/store.ts'
import type { StoreTools } from '../../store/admin/tools.ts'

export function toolsOf(store: Store<never>): StoreTools {
  const { tools } = store as Partial<Pick<ToolStore, 'tools'>>
  if (tools !== undefined) return tools
  throw new JobmillError('OPTION_INVALID', 'has no admin tools for its database', {
    field: 'store',
    value: store.name,
    fix: 'Use the tools that come with the store',
  })
}
