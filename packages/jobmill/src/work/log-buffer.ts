/** The log of an attempt, as JSON lines that fit into one row. Keeps the first lines and counts the rest. */
import { DEFAULTS } from '../job/defaults.ts'
import type { LogLevel } from '../job/context.ts'
import { jsonText } from '../job/text/json-text.ts'

export interface LogLine {
  /** Wall clock of the process that ran the attempt. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Reserved for the line that says how many are missing. */
const RESERVE_CHARS = 200
const LONGEST_MESSAGE = 4_096

/** A class, because every attempt has one and few write to it. */
export class LogBuffer {
  readonly #limit: number
  readonly #lines: string[] = []
  #chars = 0
  #dropped = 0
  #lastAt = 0
  #changed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  add(line: LogLine): void {
    this.#changed = true
    this.#lastAt = line.at
    const text = lineText(line)
    if (this.#dropped > 0 || this.#chars + text.length + 1 > this.#limit - RESERVE_CHARS) {
      this.#dropped += 1
      return
    }
    this.#lines.push(text)
    this.#chars += text.length + 1
  }

  /** All lines so far. Undefined when nothing was logged. */
  text(): string | undefined {
    if (this.#lines.length + this.#dropped === 0) return undefined
    if (this.#dropped === 0) return this.#lines.join('\n')
    const message = `${this.#dropped} more ${this.#dropped === 1 ? 'line' : 'lines'} did not fit`
    const last: LogLine = { at: this.#lastAt, level: 'warn', message }
    return [...this.#lines, JSON.stringify(last)].join('\n')
  }

  /** Whether lines were added since the last call. */
  takeChanged(): boolean {
    const was = this.#changed
    this.#changed = false
    return was
  }

  /** The lines taken last were not written. */
  changedAgain(): void {
    this.#changed = true
  }
}

export function logBuffer(limit: number = DEFAULTS.logLimitChars): LogBuffer {
  return new LogBuffer(limit)
}

/** A value that cannot be stored as JSON must not fail a job that only logs it. */
function lineText({ at, level, message, fields }: LogLine): string {
  const short = textOf(message).slice(0, LONGEST_MESSAGE).replaceAll('\u0000', '\u{fffd}').toWellFormed()
  if (fields === undefined) return JSON.stringify({ at, level, message: short })
  try {
    return `{"at":${at},"level":"${level}","message":${JSON.stringify(short)},"fields":${jsonText(fields, 'fields', 16_384, 'Log less data')}}`
  } catch (error) {
    return JSON.stringify({ at, level, message: short, fields: { notKept: String(error).slice(0, 200) } })
  }
}

/** Typed as a string, but plain JavaScript may pass anything. */
function textOf(message: unknown): string {
  try {
    return String(message)
  } catch {
    return 'log message could not be converted to text'
  }
}

/** Parses the lines of a stored log. */
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
