/** What is written down for an attempt that nobody ended: its instance stopped renewing. */

/** The same attempt once its instance has registered again: its process never went away. */
export const NO_CRASH = 'lease expired while its process was still alive: not counted as a crash'

/** What is added when the process stood still: that is counted, because a handler of it may have blocked the event loop. */
export const STOOD_STILL =
  ': its process stood still for longer than its lease, because a handler blocked the event loop or the process was stopped'

const BEFORE = 'lost with its instance (crash '
const AFTER = ')'

export function crashError(crashes: number): string {
  return `${BEFORE}${crashes}${AFTER}`
}

/** The same text in SQL, for a statement that counts the crash itself. */
export function crashErrorSql(crashes: string): string {
  return `'${BEFORE}' || ${crashes} || '${AFTER}'`
}
