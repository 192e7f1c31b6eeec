/**
 * Names under which the server keeps statements prepared. A name is made of the text: behind a pooler that shares connections without knowing about names, one
 * that is known there already, to whomever, means the very same statement or is refused.
 */
import { createHash } from 'node:crypto'

export interface StatementNames {
  /** Undefined once they were given up. */
  readonly of: (text: string) => string | undefined
  /** Under new names from now on: what is prepared under the old ones has another result by now. */
  readonly renew: () => void
  /** Says so, the first time. */
  readonly giveUp: (why: string) => void
}

/** With `isWanted` false they are given up from the beginning. */
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
        `PostgreSQL lost a prepared statement (${why}), as it happens behind a pooler. Statements are sent without names from now on, which costs a little more`,
        {
          type: 'JobmillWarning',
          code: 'STATEMENT_NAMES_LOST',
          detail: 'Set namedStatements: false on the store to say nothing of it',
        },
      )
    },
  }
}
