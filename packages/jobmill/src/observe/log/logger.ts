/** The logger interface, and adapters for other loggers. */
import { inspect } from 'node:util'
import type { LogLevel } from '../../job/context.ts'
import { safeLine, safeLines } from '../../job/text/safe-text.ts'

export interface Logger {
  /** The lowest level it writes. If omitted it receives everything, including per-job events. */
  readonly least?: LogLevel
  /** Called before each line; false skips the line. For levels that change at run time. */
  isEnabled?(level: LogLevel): boolean
  debug(message: string, fields: object): unknown
  info(message: string, fields: object): unknown
  warn(message: string, fields: object): unknown
  error(message: string, fields: object): unknown
}

/** Takes the fields before the message, as pino and bunyan do. */
export interface FieldsFirstLogger {
  isLevelEnabled?(level: string): boolean
  debug(fields: object, message: string): unknown
  info(fields: object, message: string): unknown
  warn(fields: object, message: string): unknown
  error(fields: object, message: string): unknown
}

export type LogFunction = (level: LogLevel, message: string, fields: object) => unknown

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

export function isEnabled(logger: Logger, level: LogLevel): boolean {
  return isAtLeast(level, logger.least ?? 'debug') && logger.isEnabled?.(level) !== false
}

export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}

export function fromFunction(log: LogFunction): Logger {
  return byLevel((level) => (message, fields) => log(level, message, fields))
}

export function fieldsFirst(logger: FieldsFirstLogger): Logger {
  return {
    ...byLevel((level) => (message, fields) => logger[level](fields, message)),
    isEnabled: (level) => logger.isLevelEnabled?.(level) !== false,
  }
}

/**
 * Node's console escapes nothing, and messages and fields may contain untrusted text. It gets one argument,
 * because a second one would turn the message into a format.
 */
export function fromConsole(console: Console): Logger {
  return byLevel(
    (level) => (message, fields) => console[level](`${safeLine(message)} ${safeLines(inspected(fields))}`),
  )
}

/** A custom inspect function may throw. It must not prevent the message from being written. */
function inspected(fields: object): string {
  try {
    return inspect(fields)
  } catch {
    return '(fields could not be inspected)'
  }
}

/** A logger that takes the message first. */
export function messageFirst(logger: Logger): Logger {
  return {
    ...byLevel((level) => (message, fields) => logger[level](message, fields)),
    ...(logger.least !== undefined && { least: logger.least }),
    isEnabled: (level) => logger.isEnabled?.(level) !== false,
  }
}

/**
 * Loggers and listeners of the application may return promises, which nothing awaits. Calls `failed` if the
 * promise is rejected, so that it does not end the process.
 */
export function whenRejected(returned: unknown, failed: () => void): void {
  if (typeof returned === 'object' && returned !== null && 'then' in returned)
    Promise.resolve(returned).catch(failed)
}

type Write = (message: string, fields: object) => unknown

/** Callers do not await a logger that returns promises, so a rejection must not end the process. */
export function byLevel(write: (level: LogLevel) => Write): Pick<Logger, LogLevel> {
  const caught = (level: LogLevel): Write => {
    const own = write(level)
    return (message, fields) => {
      const returned = own(message, fields)
      whenRejected(returned, () => {})
      return returned
    }
  }
  return { debug: caught('debug'), info: caught('info'), warn: caught('warn'), error: caught('error') }
}
