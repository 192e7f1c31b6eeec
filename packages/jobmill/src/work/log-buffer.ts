/** What a handler logs, as lines of JSON that fit in a row. The first lines are kept, and how many did not fit. */
import { DEFAULTS } from '../job/defaults.ts'
import type { LogLevel } from '../job/context.ts'
import { jsonText } from '../job/json-text.ts'

export interface LogLine {
  /** Wall clock of the process that ran the attempt. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface LogBuffer {
  add(line: LogLine): void
  /** Everything so far; undefined when nothing was logged. */
  text(): string | undefined
  /** True when something was added since it was last asked. */
  takeChanged(): boolean
  /** What was taken did not arrive. */
  changedAgain(): void
}

/** Kept free for the line that says how many are missing. */
const RESERVE_CHARS = 200
const LONGEST_MESSAGE = 4_096

export function logBuffer(limit: number = DEFAULTS.logLimitChars): LogBuffer {
  const lines: string[] = []
  let chars = 0
  let dropped = 0
  let lastAt = 0
  let changed = false

  return {
    add(line) {
      changed = true
      lastAt = line.at
      const text = lineText(line)
      if (dropped > 0 || chars + text.length + 1 > limit - RESERVE_CHARS) {
        dropped += 1
        return
      }
      lines.push(text)
      chars += text.length + 1
    },
    text() {
      if (lines.length + dropped === 0) return undefined
      if (dropped === 0) return lines.join('\n')
      const last: LogLine = { at: lastAt, level: 'warn', message: `${dropped} more lines did not fit` }
      return [...lines, JSON.stringify(last)].join('\n')
    },
    takeChanged() {
      const was = changed
      changed = false
      return was
    },
    changedAgain() {
      changed = true
    },
  }
}

/** What cannot be kept as JSON must not end a job that only wanted to log it. */
function lineText({ at, level, message, fields }: LogLine): string {
  const short = textOf(message).slice(0, LONGEST_MESSAGE).replaceAll('\u0000', '\u{fffd}').toWellFormed()
  if (fields === undefined) return JSON.stringify({ at, level, message: short })
  try {
    return `{"at":${at},"level":"${level}","message":${JSON.stringify(short)},"fields":${jsonText(fields, 'fields', 16_384)}}`
  } catch (error) {
    return JSON.stringify({ at, level, message: short, fields: { notKept: String(error).slice(0, 200) } })
  }
}

/** A text by type only: plain JavaScript may pass anything. */
function textOf(message: unknown): string {
  try {
    return String(message)
  } catch {
    return 'something was logged that cannot be read'
  }
}

/** The lines of a stored log. */
export function readLog(text: string | null): LogLine[] {
  if (text === null || text === '') return []
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LogLine]
    } catch {
      return []
    }
  })
}
