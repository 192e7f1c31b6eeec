/** Where log lines go. */
import { JobmillError, shown } from '../job/errors.ts'
import type { LogLevel } from '../job/context.ts'
import { consoleLogger, type Logger } from '../observe/log-events.ts'

export type LogOption = LogLevel | 'silent' | Logger

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error']

export function loggerFor(log: LogOption = 'warn'): Logger | null {
  if (log === 'silent') return null
  if (typeof log === 'string' && LEVELS.includes(log)) return consoleLogger(log)
  if (typeof log === 'object' && log !== null) {
    const methods = ['debug', 'info', 'warn', 'error'] as const
    if (methods.every((name) => typeof log[name] === 'function')) return log
  }
  throw new JobmillError('OPTION_INVALID', 'is neither a level nor a logger', {
    field: 'log',
    value: shown(log),
    fix: 'Give debug, info, warn, error, silent, or an object with the methods debug, info, warn and error',
  })
}
