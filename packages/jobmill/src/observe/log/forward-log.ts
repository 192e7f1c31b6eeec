/** Forwards handler log lines to the logger of the application, with the attempt they belong to. */
import type { LogLevel } from '../../job/context.ts'
import type { AttemptRef } from '../../job/events.ts'
import { errorIn, type LogFields, plainErrors } from '../../job/text/plain-errors.ts'
import { isEnabled, type Logger } from './logger.ts'

export type ForwardLog = (
  attempt: { readonly ref: AttemptRef },
  level: LogLevel,
  message: string,
  fields: LogFields | undefined,
) => void

/** Distinguishes these lines from event lines. */
export const FROM_HANDLER = 'handler'

/**
 * Called synchronously by `log`, so that lines stay in order and none is dropped. Handler fields are nested,
 * so that they cannot shadow job fields.
 */
export function forwardLog(logger: Logger): ForwardLog {
  return (attempt, level, message, fields) => {
    if (!isEnabled(logger, level)) return
    const own = fields === undefined ? {} : ownFields(fields)
    try {
      logger[level](message, { from: FROM_HANDLER, ...attempt.ref, ...own })
    } catch {
      // A logger that throws must not fail the job. The line is stored with the attempt anyway.
    }
  }
}

/** Also passes the original error, for loggers that format errors on their own. */
function ownFields(fields: LogFields): object {
  const err = errorIn(fields)
  return { fields: plainErrors(fields), ...(err !== undefined && { err }) }
}
