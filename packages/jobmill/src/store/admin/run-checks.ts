/**
 * Runs checks one after the other. A check that fails to run is reported as a warning, and the others still
 * run.
 */
import { isJobmillError } from '../../job/errors.ts'
import { type Diagnostic, warning } from './admin.ts'

type Looking = () => readonly Diagnostic[] | Promise<readonly Diagnostic[]>

export type Check = readonly [name: string, look: Looking]

/** `isAnswered`: whether the database is reachable and only refused the query. */
export async function runChecks(
  checks: readonly Check[],
  isAnswered: (error: unknown) => boolean,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const [name, look] of checks) {
    try {
      diagnostics.push(...(await look()))
    } catch (error) {
      // The database is unreachable, so the remaining checks would fail too.
      if (isJobmillError(error) && error.retryable && !isAnswered(error)) throw error
      const why = error instanceof Error ? error.message : String(error)
      const fix = isJobmillError(error) ? error.fix : undefined
      diagnostics.push(
        warning(
          name,
          `the check could not run: ${why}`,
          fix ?? 'Run the doctor as a database user with the required privileges',
        ),
      )
    }
  }
  return diagnostics
}

/** Checks that read tables run only if the check of the schema before them found no error. */
export function ifWhole(): {
  readonly check: (look: Looking) => Looking
  readonly only: (look: Looking) => Looking
} {
  let isWhole = false
  return {
    check: (look) => async () => {
      const found = await look()
      isWhole = found.every(({ level }) => level !== 'error')
      return found
    },
    only: (look) => () => (isWhole ? look() : []),
  }
}
