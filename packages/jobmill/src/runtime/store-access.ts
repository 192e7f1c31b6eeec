/** How the parts of a mill reach the store. */
import type { FullStore } from '../store/store.ts'

export interface StoreAccess {
  /** Opens the store if it is not open yet. */
  readonly opened: () => Promise<FullStore>
  /** The author of a change unless the caller names one. */
  readonly by: () => string
  /** The next tick of a schedule may have changed. If this instance leads the duty, it plans now. */
  readonly wake: () => void
}
