/** Splits a stored error text into the error and its causes. */
import type { LogLine } from '../../../api/types.ts'

export interface ErrorPart {
  /** The first line of the message. */
  readonly title: string
  /** The rest of the message. */
  readonly rest: string
}

const CAUSED_BY = '\n  caused by: '
/** Replaces causes in the middle of a long chain. */
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

/** The first frame of the application, with its line if the stack has it: `chargeCard (charge.js:12)`. */
export function placeOf(log: readonly LogLine[]): string | null {
  const frame = log.findLast(({ fields }) => typeof fields?.['frame'] === 'string')?.fields?.['frame']
  if (typeof frame !== 'string') return null
  const file = /([^(/]+?)\)?$/.exec(frame)?.[1]
  const isIt = (line: string): boolean => line.includes(`/${file}:`) && !line.includes('/node_modules/')
  const at = /:(\d+):\d+\)?$/.exec(stackOf(log)?.split('\n').find(isIt) ?? '')
  return at === null ? frame : frame.replace(/(?=\)?$)/, `:${at[1]}`)
}

/** The stack: a failing attempt writes it into its log. */
export function stackOf(log: readonly LogLine[]): string | null {
  for (const { fields } of log.toReversed()) {
    const stack = fields?.['stack']
    if (typeof stack === 'string') return stack
  }
  return null
}
