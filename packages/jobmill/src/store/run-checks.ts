/** Runs checks one after the other. One that cannot be made is told of, and the others are made all the same. */
import { isJobmillError } from '../job/errors.ts'
import { type Diagnostic, warning } from './admin.ts'

export type Check = readonly [
  name: string,
  look: () => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
]

/** `isAnswered`: the database is there, and only refused what was asked. */
export async function runChecks(
  checks: readonly Check[],
  isAnswered: (error: unknown) => boolean,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const [name, look] of checks) {
    try {
      diagnostics.push(...(await look()))
    } catch (error) {
      // Gone in the middle: whatever comes after it would fail alike.
      if (isJobmillError(error) && error.retryable && !isAnswered(error)) throw error
      const why = error instanceof Error ? error.message : String(error)
      const fix = isJobmillError(error) ? error.fix : undefined
      diagnostics.push(
        warning(name, `this could not be looked at: ${why}`, fix ?? 'Run it as a user who may'),
      )
    }
  }
  return diagnostics
}
