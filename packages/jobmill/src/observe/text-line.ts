/** A log entry as text for standard error: one line, with the indented stack of an error below it. */
import type { AttemptRef } from '../job/events.ts'
import { safeLine } from '../job/text/safe-text.ts'
import { FROM_HANDLER } from './forward-log.ts'

const INDENT = '\n        '
const MOST_FRAMES = 30

export function textLine(message: string, fields: object): string {
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
