/** Cached ids of queues and kinds turned out not to be those of the database: the names are read again and the verb runs again. */
import { JobmillError } from '../job/errors.ts'

/** Raised by jobmill.names_unknown(). */
export const NAMES_UNKNOWN = 'JMN01'

export interface MissingNames {
  readonly queues: Iterable<string>
  readonly kinds: Iterable<string>
}

/** Nothing was written. Callers see it only when the names keep changing. */
export class NamesChanged extends JobmillError {
  /** Names that have no id yet. */
  readonly missing: MissingNames

  constructor(missing: MissingNames = { queues: [], kinds: [] }) {
    super('STORE_BUSY', 'the ids of queues and kinds keep changing, as while a backup is restored', {
      fix: 'Try again once the database is restored',
    })
    this.missing = missing
  }
}

/** How often a verb is run again. Each time the names were read just before. */
export const MOST_TRIES = 5

interface Reloads {
  readonly reload: (missing: MissingNames) => Promise<void>
}

/** Runs `verb`, and runs it again with the names as they are now when the cached ones were not true. */
export async function withTrueNames<T>(names: Reloads, verb: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await verb()
    } catch (error) {
      if (!(error instanceof NamesChanged) || tries === MOST_TRIES) throw error
      await names.reload(error.missing)
    }
  }
}
