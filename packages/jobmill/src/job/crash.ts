/** What is written down for an attempt that nobody ended: its instance stopped renewing. */

/** The same attempt once its instance has registered again: its process never went away. */
export const NO_CRASH = 'lease expired while its process was still alive: not counted as a crash'

const BEFORE = 'lost with its instance (crash '
const AFTER = ')'

export function crashError(crashes: number): string {
  return `${BEFORE}${crashes}${AFTER}`
}

/** The same text in SQL, for a statement that counts the crash itself. */
export function crashErrorSql(crashes: string): string {
  return `'${BEFORE}' || ${crashes} || '${AFTER}'`
}
