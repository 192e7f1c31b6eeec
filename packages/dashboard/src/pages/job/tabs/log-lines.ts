/** The log of all attempts as one list. */
import type { LogLine } from '../../../api/types/job.ts'
import type { Try } from '../tries.ts'

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

export const isLevel = (text: string | null): text is Level => LEVELS.includes(text as Level)

export interface Shown {
  readonly key: string
  readonly n: number
  readonly line: LogLine
}

/** Lines of this level and above, in the order in which they were written. */
export function linesOf(tries: readonly Try[], least: Level): readonly Shown[] {
  const from = LEVELS.indexOf(least)
  return tries.flatMap(({ n, log }) =>
    log.flatMap((line, at) => (LEVELS.indexOf(line.level) >= from ? [{ key: `${n} ${at}`, n, line }] : [])),
  )
}

/** As one line, without its time: for a comparison. */
export function asText({ level, message, fields }: LogLine): string {
  return `${level} ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`
}
