/** The logger of a mill, for parts that are given only the mill. It is not part of the public API. */
import { isEnabled, type Logger } from '../observe/logger.ts'

const LOGGERS = new WeakMap<object, Logger>()

export function keepLogger(mill: object, logger: Logger | null): void {
  if (logger !== null) LOGGERS.set(mill, logger)
}

/** Writes to the log of the mill. Errors of the logger are ignored, as in the log of events. */
export function logWarning(mill: object, message: string, fields: object): void {
  const logger = LOGGERS.get(mill)
  try {
    if (logger !== undefined && isEnabled(logger, 'warn')) logger.warn(message, fields)
  } catch {
    // A broken logger must not prevent the start.
  }
}
