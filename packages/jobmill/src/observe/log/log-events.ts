/**
 * Turns events into log lines: a retry is a warning, a permanent failure an error, and most other events of a
 * job are debug lines.
 */
import type { LogLevel } from '../../job/context.ts'
import type { AttemptRef, MillEvent } from '../../job/events.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { writeOutput } from '../../platform/write-output.ts'
import type { EventHub } from '../event-hub.ts'
import { lineFor } from './event-lines.ts'
import { EVENT_TYPES, EVENTS } from '../event-types.ts'
import { FROM_HANDLER } from './forward-log.ts'
import { byLevel, isAtLeast, isEnabled, type Logger } from './logger.ts'

/** Frequent internal duties, logged at debug. Retention and application duties are logged at info. */
const ROUTINE_DUTIES: ReadonlySet<string> = new Set([
  'reap',
  'stage',
  'schedule',
  'rebalance',
  'roll-up',
  'alert',
  'flush',
  'listen',
])

function isRoutine(event: MillEvent): boolean {
  return (event.type === 'duty-started' || event.type === 'duty-done') && ROUTINE_DUTIES.has(event.duty)
}

/** Writes lines to standard error, from this level up. */
export function consoleLogger(least: LogLevel): Logger {
  const write = byLevel((level) => (message, fields) => {
    if (isAtLeast(level, least))
      writeOutput(process.stderr, `jobmill ${level.padEnd(5)} ${textLine(message, fields)}\n`)
  })
  return { least, ...write }
}

export function logEvents(hub: EventHub, logger: Logger): () => void {
  // A logger may return a promise. The hub handles its rejection.
  const logEvent = (event: MillEvent): unknown => {
    const { type, at: _at, ...fields } = event
    const level = isRoutine(event) ? 'debug' : EVENTS[type].level
    return isEnabled(logger, level) ? logger[level](lineFor(event), rounded(fields)) : undefined
  }
  const { least = 'debug' } = logger
  if (least === 'debug') return hub.on('*', logEvent)
  // Subscribes only to the required types: per-job events are for debugging, and cost almost nothing without
  // a listener.
  const ends = EVENT_TYPES.filter((type) => isAtLeast(EVENTS[type].level, least)).map((type) =>
    hub.on(type, logEvent),
  )
  return () => {
    for (const end of ends) end()
  }
}

/** Rounds milliseconds to a tenth. Most events have whole numbers already. */
function rounded(fields: object): object {
  const long = Object.entries(fields).filter(([key, value]) => key.endsWith('Ms') && isLong(value))
  if (long.length === 0) return fields
  return { ...fields, ...Object.fromEntries(long.map(([key, value]) => [key, tenth(Number(value))])) }
}

function isLong(value: unknown): boolean {
  return typeof value === 'number' && tenth(value) !== value
}

function tenth(n: number): number {
  return Math.round(n * 10) / 10
}

const INDENT = '\n        '
const MOST_FRAMES = 30

function textLine(message: string, fields: object): string {
  const { stack, from } = fields as { readonly stack?: unknown; readonly from?: unknown }
  const line = from === FROM_HANDLER ? handlerLine(message, fields as HandlerFields) : message
  return `${safeLine(line)}${typeof stack === 'string' ? framesIn(stack) : ''}`
}

interface HandlerFields extends AttemptRef {
  readonly fields?: unknown
}

function handlerLine(
  message: string,
  { kind, id, queue, attempt, maxAttempts, fields }: HandlerFields,
): string {
  const more = fields === undefined ? '' : ` ${jsonOf(fields)}`
  return `job ${kind} ${id} in ${queue} (attempt ${attempt} of ${maxAttempts}): ${message}${more}`
}

/** Fields that cannot be JSON must not prevent the message from being written. */
function jsonOf(fields: unknown): string {
  try {
    return JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  } catch {
    return '(fields could not be serialized)'
  }
}

/** Drops the first lines, which repeat the error at the end of the message. */
function framesIn(stack: string): string {
  const lines = stack.split('\n')
  const first = lines.findIndex((line) => /^\s+at /.test(line))
  if (first === -1) return ''
  return lines
    .slice(first, first + MOST_FRAMES)
    .map((line) => `${INDENT}${safeLine(line.trim())}`)
    .join('')
}
