/** The log of the gateway, for operators. */
import type { LogOption } from 'jobmill'
import { loggerFor } from 'jobmill/internal'

export type Log = ReturnType<typeof logTo>

/** The message includes all fields, for loggers that keep only the message. */
export function logTo(option: LogOption = 'silent') {
  const logger = loggerFor(option)
  return (
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ): void => {
    const pairs = Object.entries(fields).map(([name, value]) => `${name} ${String(value)}`)
    logger?.[level](`telegram: ${message}${pairs.length === 0 ? '' : ` (${pairs.join(', ')})`}`, fields)
  }
}
