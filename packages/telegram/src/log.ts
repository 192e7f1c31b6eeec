/** Where the gateway says what an operator should know. */
import { loggerFor, type LogOption } from 'jobmill'

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void

/** The message tells everything, for loggers that keep only that; the fields are for those that can search them. */
export function logTo(option: LogOption = 'silent'): Log {
  const logger = loggerFor(option)
  return (level, message, fields) => {
    const told = Object.entries(fields).map(([name, value]) => `${name} ${String(value)}`)
    logger?.[level](`telegram: ${message} (${told.join(', ')})`, fields)
  }
}
