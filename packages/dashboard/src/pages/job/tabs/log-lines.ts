/** The logs of all attempts as one list. */
import type { LogLine } from '../../../api/types.ts'
import type { Try } from '../tries.ts'

export type Level = LogLine['level']
/** From the least to the most severe. */
export const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']

export const isLevel = (text: string | null): text is Level => LEVELS.includes(text as Level)

export interface ShownLine {
  readonly key: string
  readonly n: number
  readonly line: LogLine
}

/** Lines of this level and above, in the order they were written. */
export function linesOf(tries: readonly Try[], least: Level): readonly ShownLine[] {
  const from = LEVELS.indexOf(least)
  return tries.flatMap(({ n, log }) =>
    log.flatMap((line, at) => (LEVELS.indexOf(line.level) >= from ? [{ key: `${n} ${at}`, n, line }] : [])),
  )
}

/**
 * Text without its time, for comparison: the line itself, and the lines of multi-line fields such as a stack.
 */
export function asLines({ level, message, fields = {} }: LogLine): readonly string[] {
  const said = [`${level} ${message}`]
  const more: string[] = []
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value.includes('\n'))
      more.push(...`${key}: ${value}`.split('\n').map((line) => `  ${line}`))
    else said.push(`${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
  return [said.join(' '), ...more]
}
