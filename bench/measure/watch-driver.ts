// Watches the calls into SQLite from outside: every statement that better-sqlite3 prepares from now on
// reports when it is entered and left.
import { createRequire } from 'node:module'

export interface DriverWatch {
  readonly enter: () => void
  readonly leave: (statement: string) => void
}

type Call = (...values: unknown[]) => unknown
type Statement = Record<'run' | 'get' | 'all', Call>

/** Call it before the first file is opened. */
export function watchDriver({ enter, leave }: DriverWatch): void {
  // The copy of the driver that the store loads.
  const require = createRequire(new URL('../../packages/jobmill/package.json', import.meta.url))
  const { prototype } = require('better-sqlite3') as {
    prototype: { prepare: (this: unknown, text: string) => Statement }
  }
  const { prepare } = prototype
  prototype.prepare = function (text) {
    const statement = prepare.call(this, text)
    for (const verb of ['run', 'get', 'all'] as const) {
      const call = statement[verb].bind(statement)
      statement[verb] = (...values) => {
        enter()
        try {
          return call(...values)
        } finally {
          leave(text)
        }
      }
    }
    return statement
  }
}
