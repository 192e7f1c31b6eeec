/** What a store must provide to be tested. */
import type { Store } from 'jobmill/store'
import type { OptionalGroup } from './groups.ts'

export interface ConformanceSubject<S extends Store = Store> {
  readonly name: string
  /** Starts a case: from here on, `handle` refers to an empty database. */
  readonly fresh: () => Promise<void>
  /**
   * A new handle on the database of the case, not yet opened. The handles of a case share one clock. A case
   * without a clock is about the clock of the database.
   */
  readonly handle: (options: { readonly clock?: () => number }) => S
  /**
   * Runs `work` inside a user transaction on that database, and ends it as requested. Omit it for a store
   * that accepts no transactions.
   */
  readonly transaction?: <T>(work: (tx: unknown) => Promise<T>, end: 'commit' | 'rollback') => Promise<T>
  /**
   * The parts that the store does not have. One test per entry reports how many cases are not run, and fails
   * if the store has that part.
   */
  readonly without?: readonly OptionalGroup[]
  /** Names of cases that this store cannot pass. A listed case that passes or does not exist is an error. */
  readonly knownGaps?: readonly string[]
}
