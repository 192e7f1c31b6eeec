/**
 * Order locks and dedupe keys whose job does not exist, because an operator emptied tables. Later jobs with
 * the same key would wait for them, so retention releases them.
 */
import { type Diagnostic, ok, warning } from './admin.ts'

/** How many rows of each table a pass checks. */
export const STRAY_ROWS = 1_000

export interface StrayCounts {
  readonly locks: number
  readonly keys: number
  /** Null for a store that cannot tell permits of jobs from those of other holders. */
  readonly permits: number | null
  /**
   * Rows of waiting or running jobs without the row of the job; null for a store where a job is a single row.
   */
  readonly states: number | null
}

export function strayDiagnostic({ locks, keys, permits, states }: StrayCounts): Diagnostic {
  const counted = [
    [locks, 'order locks'],
    [keys, 'dedupe keys'],
    [permits ?? 0, 'permits'],
    [states ?? 0, 'waiting or running entries'],
  ] as const
  const found = counted.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`)
  if (found.length === 0) return ok('keys', 'no order locks, dedupe keys or permits belong to missing jobs')
  return warning(
    'keys',
    `${found.join(', ')} of jobs that do not exist, which other jobs may wait for`,
    'Start a process with duties: retention releases them within 5 minutes. Delete jobs with jobmill, not with SQL',
  )
}

export function warnOfStray(locks: number, keys: number, states = 0): void {
  process.emitWarning(
    `tables were emptied: released ${locks} order locks, ${keys} dedupe keys and ${states} entries of jobs that do not exist`,
    { type: 'JobmillWarning', code: 'STRAY_KEYS_RELEASED' },
  )
}
