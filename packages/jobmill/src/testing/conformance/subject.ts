/** What a store must provide to be tested. */
import type { FullStore } from '../../store/store.ts'

export interface ConformanceSubject {
  readonly name: string
  /** Starts a case: from here on, `handle` refers to an empty database. */
  readonly fresh: () => Promise<void>
  /**
   * A new handle on the database of the case, not yet opened. The handles of a case share one clock. A case
   * without a clock is about the clock of the database.
   */
  readonly handle: (options: { readonly clock?: () => number }) => FullStore
  /** Runs `work` inside a user transaction on that database, and ends it as requested. */
  readonly transaction: <T>(work: (tx: unknown) => Promise<T>, end: 'commit' | 'rollback') => Promise<T>
  /** Names of cases that this store cannot pass. A listed case that passes or does not exist is an error. */
  readonly knownGaps?: readonly string[]
}
