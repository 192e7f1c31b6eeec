/**
 * Names for prepared statements, derived from their text. Behind a pooler that shares connections, an
 * existing name therefore refers to the same statement or is rejected.
 */
import { createHash } from 'node:crypto'

/** With `isWanted` false, names are disabled from the start. */
export function statementNames(isWanted: boolean) {
  const known = new Map<string, string>()
  let isGivenUp = !isWanted
  let renewals = 0
  return {
    /** Undefined if names are disabled. */
    of(text: string): string | undefined {
      if (isGivenUp) return undefined
      const before = known.get(text)
      if (before !== undefined) return before
      const hash = createHash('sha256').update(renewals === 0 ? text : `${renewals} ${text}`)
      const name = `jobmill_${hash.digest('hex').slice(0, 32)}`
      known.set(text, name)
      return name
    },
    /** Switches to new names, because the statements under the old ones have an outdated result type. */
    renew(): void {
      renewals += 1
      known.clear()
    },
    /** Disables names, with a warning the first time. */
    giveUp(why: string): void {
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
