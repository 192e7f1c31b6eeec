/** An error as it is kept, taken apart again: the error, and what caused it. */
import type { LogLine } from '../../../api/types/job.ts'

export interface ErrorPart {
  /** The first line. */
  readonly title: string
  /** What else its message says. */
  readonly rest: string
}

const CAUSED_BY = '\n  caused by: '
/** In place of causes in the middle of a long chain. */
const LEFT_OUT = /\n {2}(… \d+ more …)(?=\n|$)/

export function errorParts(error: string): readonly ErrorPart[] {
  return error.split(CAUSED_BY).flatMap((text) => {
    const left = LEFT_OUT.exec(text)
    if (left === null) return [partOf(text)]
    return [partOf(text.slice(0, left.index)), partOf(left[1] ?? '')]
  })
}

function partOf(text: string): ErrorPart {
  const at = text.indexOf('\n')
  return at === -1 ? { title: text, rest: '' } : { title: text.slice(0, at), rest: text.slice(at + 1) }
}

export const firstLine = (error: string): string => error.split('\n', 1)[0] ?? ''

/** Where it was thrown: an attempt that throws writes that into its log. */
export function stackOf(log: readonly LogLine[]): string | null {
  for (const { fields } of log.toReversed()) {
    const stack = fields?.['stack']
    if (typeof stack === 'string') return stack
  }
  return null
}
