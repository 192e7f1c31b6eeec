/** The option `log`: where log lines go. */
import { invalidValue } from '../../job/errors.ts'
import type { LogLevel } from '../../job/context.ts'
import { consoleLogger } from '../../observe/log/log-events.ts'
import {
  fieldsFirst,
  type FieldsFirstLogger,
  fromConsole,
  fromFunction,
  LEVELS,
  type LogFunction,
  type Logger,
  messageFirst,
} from '../../observe/log/logger.ts'

/**
 * A level for text on standard error, `silent`, a function, or a logger. `console`, winston and other loggers
 * take the message first. Pino and bunyan loggers take the fields first and are recognized. Wrap any other
 * fields-first logger as `{ pino: logger }`.
 */
export type LogOption = LogLevel | 'silent' | Logger | LogFunction | { readonly pino: FieldsFirstLogger }

export function loggerFor(log: LogOption = 'warn'): Logger | null {
  if (log === 'silent') return null
  if (typeof log === 'string' && LEVELS.includes(log)) return consoleLogger(log)
  if (typeof log === 'function') return fromFunction(log)
  if (typeof log === 'object' && log !== null) {
    if (log === globalThis.console) return fromConsole(globalThis.console)
    const wrapped: unknown = 'pino' in log && !hasLevels(log) ? log.pino : undefined
    if (hasLevels(wrapped)) return fieldsFirst(wrapped)
    if (hasLevels(log)) return takesFieldsFirst(log) ? fieldsFirst(log) : messageFirst(log)
  }
  const fix =
    'Pass debug, info, warn, error, silent, a logger with the methods debug, info, warn and error, { pino: logger }, or a function (level, message, fields) => …'
  throw invalidValue('log', log, 'must be a level, a logger or a function', fix)
}

/** The methods do not reveal the order of arguments that a logger expects. */
function hasLevels(value: unknown): value is Logger & FieldsFirstLogger {
  if (typeof value !== 'object' || value === null) return false
  return LEVELS.every((name) => name in value && typeof value[name as never] === 'function')
}

/**
 * Detected by methods that message-first loggers do not have: `bindings` of pino and its children,
 * `addStream` of bunyan.
 */
function takesFieldsFirst(logger: object): boolean {
  const has = (name: string): boolean => name in logger && typeof logger[name as never] === 'function'
  return has('child') && ((has('bindings') && has('isLevelEnabled')) || has('addStream'))
}
