/** The errors recorded for attempts whose instance stopped renewing its lease. */

/** The error of an attempt whose instance registered again, which proves that its process did not crash. */
export const NO_CRASH = 'lease expired while its process was still alive: not counted as a crash'

/** Added once to the error of a dead job whose crash was reverted, while another job holds its dedupe key. */
export const KEY_TAKEN =
  '; not retried, because its dedupe key belongs to another job now. Retry it when that job has ended'

/**
 * Added when the process was blocked. That counts as a crash, because a handler may have blocked the event
 * loop.
 */
export const STOOD_STILL =
  ': it was unresponsive for longer than its lease, because a handler blocked the event loop or the process was suspended'

const BEFORE = 'its process crashed or stopped responding (crash '
const AFTER = ')'

export function crashError(crashes: number): string {
  return `${BEFORE}${crashes}${AFTER}`
}

/** The same text as an SQL expression, for a statement that increments the crash count. */
export function crashErrorSql(crashes: string): string {
  return `'${BEFORE}' || ${crashes} || '${AFTER}'`
}
