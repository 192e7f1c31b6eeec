/** What the parts of a mill share. Each part picks what it needs. */
import type { InstanceInfo } from '../job/context.ts'
import type { AnyJob } from '../job/kind/definition.ts'
import type { Emit } from '../job/events.ts'
import type { Observer } from '../observe/observer.ts'
import type { Platform } from '../platform/platform.ts'
import type { StoreTools } from '../store/admin/tools.ts'
import type { FullStore } from '../store/store.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Resolved } from './options/options.ts'
import type { StoreAccess } from './store-access.ts'

export interface MillTools extends StoreAccess {
  /** For calls that must not wait for `opened` once the store is open. */
  readonly store: FullStore
  readonly options: Resolved
  readonly platform: Platform
  readonly emit: Emit
  readonly lifecycle: Lifecycle
  readonly observer: Observer
  readonly instance: () => InstanceInfo
  /** The definition of a kind in this process, if there is one. */
  readonly definition: (kind: string) => AnyJob | undefined
  /** Drops what this process has cached about these jobs. */
  readonly forget: (ids: readonly string[]) => void
  /** Null for a store without tools. */
  readonly storeTools: StoreTools | null
}
