/**
 * Names under which the server keeps statements prepared. A name is made of the text: behind a pooler that shares connections without knowing about names, one
 * that is known there already, to whomever, means the very same statement or is refused.
 */
import { createHash } from 'node:crypto'

export interface StatementNames {
  /** Undefined once they were given up. */
  readonly of: (text: string) => string | undefined
  readonly giveUp: () => void
}

/** With `isWanted` false they are given up from the beginning. */
export function statementNames(isWanted: boolean): StatementNames {
  const known = new Map<string, string>()
  let isGivenUp = !isWanted
  return {
    of(text) {
      if (isGivenUp) return undefined
      let name = known.get(text)
      if (name === undefined) {
        name = `jobmill_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
        known.set(text, name)
      }
      return name
    },
    giveUp: () => void (isGivenUp = true),
  }
}
