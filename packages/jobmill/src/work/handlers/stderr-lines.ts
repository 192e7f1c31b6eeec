/** Collects what a pool child writes to stderr during a job as log lines of that job, up to a limit. */
import { StringDecoder } from 'node:string_decoder'
import type { JobLog } from '../../job/context.ts'

/** A log holds 64 KiB, and must leave space for the handler's own lines. */
const MOST_LINES = 200
const MOST_CHARS = 32_768
const LONGEST_LINE = 4_096

export class StderrLines {
  readonly #log: JobLog
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #lines = 0
  #chars = 0

  constructor(log: JobLog) {
    this.#log = log
  }

  add(chunk: Buffer): void {
    if (this.#isFull()) return
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#write(line)
    // A line without an end would otherwise grow without bound.
    if (this.#rest.length < LONGEST_LINE) return
    this.#write(this.#rest)
    this.#rest = ''
  }

  /** The job is over: the rest without a newline counts as a line too. */
  end(): void {
    this.#write(this.#rest)
    this.#rest = ''
  }

  #write(line: string): void {
    const text = line.trimEnd().slice(0, LONGEST_LINE)
    if (text === '' || this.#isFull()) return
    this.#lines += 1
    this.#chars += text.length
    this.#log(text, { stream: 'stderr' })
    if (this.#isFull()) this.#log.warn('child stderr was truncated', { stream: 'stderr' })
  }

  #isFull(): boolean {
    return this.#lines >= MOST_LINES || this.#chars >= MOST_CHARS
  }
}
