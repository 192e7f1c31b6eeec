/** What a store must offer to be tested. */
import type { Store } from '../../store/store.ts'

export interface ConformanceSubject {
  readonly name: string
  /** Begins a case: from here on, `handle` means an empty database. */
  readonly fresh: () => Promise<void>
  /**
   * A new handle on the database of the case, not yet opened. The handles of a case share one clock; a case
   * without one is about the database's own.
   */
  readonly handle: (options: { readonly clock?: () => number }) => Store
  /** Runs `work` inside a transaction of the user's on that database, and ends it as asked. */
  readonly transaction: <T>(work: (tx: unknown) => Promise<T>, end: 'commit' | 'rollback') => Promise<T>
  /** Names of cases that this store cannot pass. One that passes, or that does not exist, is an error. */
  readonly knownGaps?: readonly string[]
}
