/** The logger of a mill, for its warnings and for parts that are given only the mill. Not a public API. */
import { isEnabled, type Logger } from '../observe/log/logger.ts'
import type { Resolved } from './options/options.ts'

const LOGGERS = new WeakMap<object, Logger>()

export function keepLogger(mill: object, logger: Logger | null): void {
  if (logger !== null) LOGGERS.set(mill, logger)
}

/** Writes to the log of the mill. */
export function logWarning(mill: object, message: string, fields: object): void {
  warn(LOGGERS.get(mill) ?? null, message, fields)
}

/** Errors of the logger are ignored, as in the log of events. */
function warn(logger: Logger | null, message: string, fields: object): void {
  try {
    if (logger !== null && isEnabled(logger, 'warn')) logger.warn(message, fields)
  } catch {
    // A broken logger must not prevent the start.
  }
}

/**
 * Returns a function that logs each warning of the options once, because applications rarely read
 * `mill.warnings`. A limit that code does not declare may exist in the database; if not, the start fails with
 * the same text. So that warning is logged only `after` the start.
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
    for (const { message, code, option } of left[when].splice(0)) warn(logger, message, { code, option })
  }
}
