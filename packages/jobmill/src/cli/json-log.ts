/**
 * Log lines as JSON, one for each message, on standard error. Made by pino, which only the command line loads. Every line is written before the call returns:
 * nothing is lost when the process ends right after.
 */
import { destination, pino, stdTimeFunctions } from 'pino'
import type { LogLevel } from '../job/context.ts'
import { errorText } from '../job/error-text.ts'
import { safeText } from '../job/safe-text.ts'
import type { TraceIds } from '../job/tracing.ts'
import type { Logger } from '../observe/logger.ts'

const STANDARD_ERROR = 2
/** Of a longer list only so many are written, and of what is nested deeper nothing. */
const MOST_LISTED = 100
const DEEPEST = 4

export function jsonLogger(level: LogLevel): Logger {
  const to = destination({ dest: STANDARD_ERROR, sync: true })
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void to.write(safeText(line)) },
  )
  return {
    least: level,
    debug: (message, fields) => lines.debug(lineFields(fields), message),
    info: (message, fields) => lines.info(lineFields(fields), message),
    warn: (message, fields) => lines.warn(lineFields(fields), message),
    error: (message, fields) => lines.error(lineFields(fields), message),
  }
}

interface EventFields {
  /** Of a job, in every event that has one. */
  readonly id?: string
  readonly trace?: TraceIds
}

/** The fields of an event, by the names under which logs are searched. */
function lineFields(fields: object): object {
  const { id, trace, ...rest } = fields as EventFields
  return {
    ...(id === undefined ? {} : { job: id }),
    ...(plain(rest, '', 0) as object),
    ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
  }
}

/** Without what JSON would make nothing of: an error has no fields of its own that count. */
function plain(value: unknown, key: string, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string' || typeof value !== 'object' || value === null) return value
  if (key === 'error' || value instanceof Error) return errorText(value)
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map((one) => plain(one, '', depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, name, depth + 1)]))
}
