/**
 * Handles cached queue and kind ids that no longer match the database: reads the names again and retries the
 * verb.
 */
import { JobmillError } from '../../job/errors.ts'

/** Raised by jobmill.names_unknown(). */
export const NAMES_UNKNOWN = 'JMN01'

export interface MissingNames {
  readonly queues: Iterable<string>
  readonly kinds: Iterable<string>
}

export const NAMES_KEEP_CHANGING = 'the ids of queues and kinds keep changing, for example during a restore'

/** Nothing was written. Callers see this error only if the names keep changing. */
export class NamesChanged extends JobmillError {
  /** Names without an id. */
  readonly missing: MissingNames

  constructor(missing: MissingNames = { queues: [], kinds: [] }) {
    super('STORE_BUSY', NAMES_KEEP_CHANGING, {
      fix: 'Retry the call once the database is restored',
    })
    this.missing = missing
  }
}

/** How often a verb is tried. The names are read again before each retry. */
export const MOST_TRIES = 5

/** Runs `verb`, and retries it with fresh names if the cached ones were invalid. */
export async function withTrueNames<T>(
  names: { readonly reload: (missing: MissingNames) => Promise<void> },
  verb: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await verb()
    } catch (error) {
      if (!(error instanceof NamesChanged) || tries === MOST_TRIES) throw error
      await names.reload(error.missing)
    }
  }
}
