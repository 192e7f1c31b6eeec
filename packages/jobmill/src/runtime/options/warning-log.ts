/** Logs suspicious but valid options: applications rarely read `mill.warnings`. */
import { isEnabled } from '../../observe/logger.ts'
import type { Resolved } from './options.ts'

/** Returns a function that logs each warning once, however often it is called. */
export function warningLog({ logger, problems }: Pick<Resolved, 'logger' | 'problems'>): () => void {
  const left = problems.filter(({ level }) => level === 'warning')
  return () => {
    for (const { message, code, option } of left.splice(0)) {
      try {
        if (logger !== null && isEnabled(logger, 'warn')) logger.warn(message, { code, option })
      } catch {
        // A broken logger must not prevent the start. The log of events ignores its errors too.
      }
    }
  }
}
