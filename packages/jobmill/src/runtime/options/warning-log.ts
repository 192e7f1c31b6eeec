/** Logs suspicious but valid options: applications rarely read `mill.warnings`. */
import { isEnabled } from '../../observe/logger.ts'
import type { Resolved } from './options.ts'

/**
 * Returns a function that logs each warning once, however often it is called. A limit that code does not
 * declare may exist in the database, and if not, the start fails with the same text. So it is logged `after`.
 */
export function warningLog({
  logger,
  problems,
}: Pick<Resolved, 'logger' | 'problems'>): (when: 'before' | 'after') => void {
  const warnings = problems.filter(({ level }) => level === 'warning')
  const left = {
    before: warnings.filter(({ code }) => code !== 'LIMIT_UNKNOWN'),
    after: warnings.filter(({ code }) => code === 'LIMIT_UNKNOWN'),
  }
  return (when) => {
    for (const { message, code, option } of left[when].splice(0)) {
      try {
        if (logger !== null && isEnabled(logger, 'warn')) logger.warn(message, { code, option })
      } catch {
        // A broken logger must not prevent the start. The log of events ignores its errors too.
      }
    }
  }
}
