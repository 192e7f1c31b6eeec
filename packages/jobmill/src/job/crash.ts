/** What is written down for an attempt that nobody ended: its instance stopped renewing. */

const BEFORE = 'lost with its instance (crash '
const AFTER = ')'

export function crashError(crashes: number): string {
  return `${BEFORE}${crashes}${AFTER}`
}

/** The same text in SQL, for a statement that counts the crash itself. */
export function crashErrorSql(crashes: string): string {
  return `'${BEFORE}' || ${crashes} || '${AFTER}'`
}
