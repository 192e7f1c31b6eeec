/** The logger interface, and adapters for other loggers. */
import type { LogLevel } from '../job/context.ts'
import { safeLine } from '../job/safe-text.ts'

export interface Logger {
  /** The lowest level it writes. If omitted it receives everything, including per-job events. */
  readonly least?: LogLevel
  /** Asked before each line; false skips building it. For levels that change at run time. */
  isEnabled?(level: LogLevel): boolean
  debug(message: string, fields: object): void
  info(message: string, fields: object): void
  warn(message: string, fields: object): void
  error(message: string, fields: object): void
}

/** Takes the fields before the message, as pino and bunyan do. */
export interface FieldsFirstLogger {
  isLevelEnabled?(level: string): boolean
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type LogFunction = (level: LogLevel, message: string, fields: object) => void

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

/** Node's console writes a message verbatim, and it may contain untrusted text. */
export function fromConsole(console: Console): Logger {
  return byLevel((level) => (message, fields) => console[level](safeLine(message), fields))
}

function byLevel(
  write: (level: LogLevel) => (message: string, fields: object) => void,
): Pick<Logger, LogLevel> {
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
