/**
 * Lines of the screen as styled pieces. They are cut to the terminal width before styling, so that no line
 * wraps.
 */
import { safeLine } from '../../job/text/safe-text.ts'
import type { Painted } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'

export type Line = readonly (string | Painted)[]

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The styled text, cut to the given number of columns. */
export function lineText(line: Line, columns: number, { paint }: Pick<Terminal, 'paint'>): string {
  let room = columns
  let text = ''
  for (const piece of line) {
    const { text: own, style } = typeof piece === 'string' ? { text: piece, style: undefined } : piece
    const fitting = cut(safeLine(own), room)
    room -= widthOf(fitting)
    text += style === undefined || fitting === '' ? fitting : paint(style, fitting)
  }
  return text
}

/** Ends with an ellipsis when text is cut. */
function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns <= 0) return ''
  return `${Array.from(text)
    .slice(0, columns - 1)
    .join('')}…`
}

export function alignLeft(text: string, columns: number): string {
  const fitting = cut(text, columns)
  return fitting + blank(columns - widthOf(fitting))
}

export function alignRight(text: string, columns: number): string {
  const fitting = cut(text, columns)
  return blank(columns - widthOf(fitting)) + fitting
}

/** The width can be negative on a very narrow terminal. */
function blank(columns: number): string {
  return ' '.repeat(Math.max(0, columns))
}

/**
 * Counts double-width characters as one. The terminal does not wrap, so a line that is too wide is only cut
 * off.
 */
function widthOf(text: string): number {
  return Array.from(text).length
}

/** Divides free rows among the parts: equally first, then the rest to parts that need more, in order. */
export function shares(free: number, wants: readonly number[]): number[] {
  const alike = Math.max(0, Math.floor(free / wants.length))
  const first = wants.map((want) => Math.min(want, alike))
  let rest = Math.max(0, free) - first.reduce((sum, n) => sum + n, 0)
  return first.map((has, at) => {
    const more = Math.min(rest, (wants[at] ?? 0) - has)
    rest -= more
    return has + more
  })
}

/** The visible part of a list, which contains the selected item. */
export function visiblePart<T>(
  items: readonly T[],
  chosen: number,
  rows: number,
): { from: number; shown: readonly T[] } {
  const from = Math.max(0, Math.min(chosen - Math.floor(rows / 2), items.length - rows))
  return { from, shown: items.slice(from, from + rows) }
}
