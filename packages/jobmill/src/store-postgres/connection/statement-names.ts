/**
 * Names for prepared statements, derived from their text. Behind a pooler that shares connections, an
 * existing name therefore refers to the same statement or is rejected.
 */
import { createHash } from 'node:crypto'

export interface StatementNames {
  /** Undefined if names are disabled. */
  readonly of: (text: string) => string | undefined
  /** Switches to new names, because the statements under the old ones have an outdated result type. */
  readonly renew: () => void
  /** Disables names, with a warning the first time. */
  readonly giveUp: (why: string) => void
}

/** With `isWanted` false, names are disabled from the start. */
export function statementNames(isWanted: boolean): StatementNames {
  const known = new Map<string, string>()
  let isGivenUp = !isWanted
  let renewals = 0
  return {
    of(text) {
      if (isGivenUp) return undefined
      let name = known.get(text)
      if (name === undefined) {
        name = `jobmill_${createHash('sha256')
          .update(renewals === 0 ? text : `${renewals} ${text}`)
          .digest('hex')
          .slice(0, 32)}`
        known.set(text, name)
      }
      return name
    },
    renew() {
      renewals += 1
      known.clear()
    },
    giveUp(why) {
      if (isGivenUp) return
      isGivenUp = true
      process.emitWarning(
        `PostgreSQL lost a prepared statement (${why}), probably because of a pooler. Named statements are now disabled, which costs some throughput`,
        {
          type: 'JobmillWarning',
          code: 'STATEMENT_NAMES_LOST',
          detail: 'Set namedStatements: false on the store to silence this warning',
        },
      )
    },
  }
}
