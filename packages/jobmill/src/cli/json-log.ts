/**
 * Writes log messages as lines of JSON to standard error, with pino, which only the command line loads.
 * Writes are synchronous, so that no line is lost when the process ends.
 */
import { destination, pino, stdTimeFunctions } from 'pino'
import type { LogLevel } from '../job/context.ts'
import { errorText } from '../job/text/error-text.ts'
import { safeText } from '../job/text/safe-text.ts'
import type { TraceIds } from '../job/tracing.ts'
import type { Logger } from '../observe/logger.ts'

const STANDARD_ERROR = 2
/** Lines that wait while standard error refuses writes. Further ones are dropped. */
const MOST_WAITING_BYTES = 16 * 1_024 * 1_024
/** Longer lists are cut, and values nested deeper are replaced by an ellipsis. */
const MOST_LISTED = 100
const DEEPEST = 4

export function jsonLogger(level: LogLevel): Logger {
  const to = destination({ dest: STANDARD_ERROR, sync: true, maxLength: MOST_WAITING_BYTES })
  // Pino would write nothing more after a broken pipe, and throw all other errors.
  to.removeAllListeners('error').on('error', () => {})
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
  /** The id of the job, in every event about a job. */
  readonly id?: string
  readonly trace?: TraceIds
}

/** Renames the fields of an event to the names that logs are usually searched by. */
function lineFields(fields: object): object {
  const { id, trace, ...rest } = fields as EventFields
  return {
    ...(id === undefined ? {} : { job: id }),
    ...(plain(rest, '', 0) as object),
    ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
  }
}

/** Converts values that JSON cannot represent, such as errors and big integers. */
function plain(value: unknown, key: string, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string' || typeof value !== 'object' || value === null) return value
  if (key === 'error' || value instanceof Error) return errorText(value)
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map((one) => plain(one, '', depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, name, depth + 1)]))
}
