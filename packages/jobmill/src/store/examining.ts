/** Runs checks one after the other. One that cannot be made is told of, and the others are made all the same. */
import { isJobmillError } from '../job/errors.ts'
import { type Finding, warning } from './keeping.ts'

export type Check = readonly [name: string, look: () => readonly Finding[] | Promise<readonly Finding[]>]

/** `isAnswered`: the database is there, and only refused what was asked. */
export async function examining(
  checks: readonly Check[],
  isAnswered: (error: unknown) => boolean,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, look] of checks) {
    try {
      findings.push(...(await look()))
    } catch (error) {
      // Gone in the middle: whatever comes after it would fail alike.
      if (isJobmillError(error) && error.retryable && !isAnswered(error)) throw error
      const why = error instanceof Error ? error.message : String(error)
      const fix = isJobmillError(error) ? error.fix : undefined
      findings.push(warning(name, `this could not be looked at: ${why}`, fix ?? 'Run it as a user who may'))
    }
  }
  return findings
}
