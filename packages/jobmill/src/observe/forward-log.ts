/** Hands what a handler says with `log` to the logger of the application, with the attempt that says it. */
import type { LogLevel } from '../job/context.ts'
import type { AttemptRef } from '../job/events.ts'
import { isEnabled, type Logger } from './logger.ts'

export type ForwardLog = (
  attempt: { readonly ref: AttemptRef },
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>> | undefined,
) => void

/** Tells these lines from those of events. */
export const FROM_HANDLER = 'handler'

/** Called inside of `log`, so that lines are in order and none is dropped. The handler's own fields stand apart: none can hide the job's. */
export function forwardLog(logger: Logger): ForwardLog {
  return (attempt, level, message, fields) => {
    if (!isEnabled(logger, level)) return
    const own = fields === undefined ? {} : { fields }
    try {
      logger[level](message, { from: FROM_HANDLER, ...attempt.ref, ...own })
    } catch {
      // A logger that throws must not fail the job. The line is kept with the attempt all the same.
    }
  }
}
