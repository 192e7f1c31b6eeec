/**
 * Writes log messages as lines of JSON to standard error, in the format of pino. Writes are synchronous, so
 * that no line is lost when the process ends.
 */
import { writeSync } from 'node:fs'
import type { LogLevel } from '../../job/context.ts'
import { errorText } from '../../job/text/error-text.ts'
import { safeText } from '../../job/text/safe-text.ts'
import type { TraceIds } from '../../job/tracing.ts'
import { byLevel, isAtLeast, type Logger } from '../../observe/log/logger.ts'
import { systemPlatform } from '../../platform/platform.ts'

const STANDARD_ERROR = 2
/** How long to wait for a reader that is too slow, before the next try. */
const RETRY_MS = 5
/** Longer lists are cut, and values nested deeper are replaced by an ellipsis. */
const MOST_LISTED = 100
const DEEPEST = 4

export function jsonLogger(level: LogLevel): Logger {
  const write = byLevel((label) => (msg, fields) => {
    if (!isAtLeast(label, level)) return
    const head = { level: label, time: new Date(systemPlatform.now()).toISOString() }
    // The head twice: first for its place in the line, then so that no field replaces it.
    const line = Object.assign({ ...head }, lineFields(fields), head, { msg })
    writeAll(`${safeText(JSON.stringify(line))}\n`)
  })
  return { least: level, ...write }
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/** A broken pipe loses the line: a log collector that restarts must not end the process. */
function writeAll(text: string): void {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(STANDARD_ERROR, bytes))
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      if (!isFull) return
      Atomics.wait(pause, 0, 0, RETRY_MS)
    }
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
  // A method toJSON would replace the value.
  if (typeof value === 'function') return undefined
  if (typeof value === 'string' || typeof value !== 'object' || value === null) return value
  if (key === 'error' || value instanceof Error) return errorText(value)
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map((one) => plain(one, '', depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, name, depth + 1)]))
}
