/** Lines of a screen as pieces of text with a style: cut to the width of the terminal before they are painted, so that nothing wraps. */
import { oneLine } from '../plain.ts'
import type { Painted } from '../table.ts'
import type { Terminal } from '../terminal.ts'

export type Line = readonly (string | Painted)[]

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** As it is written, at most so many columns wide. */
export function lineText(line: Line, columns: number, { paint }: Pick<Terminal, 'paint'>): string {
  let room = columns
  let text = ''
  for (const piece of line) {
    const { text: own, style } = typeof piece === 'string' ? { text: piece, style: undefined } : piece
    const fitting = cut(oneLine(own), room)
    room -= widthOf(fitting)
    text += style === undefined || fitting === '' ? fitting : paint(style, fitting)
  }
  return text
}

/** With an ellipsis where something is missing. */
function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns <= 0) return ''
  return `${Array.from(text)
    .slice(0, columns - 1)
    .join('')}…`
}

export function left(text: string, columns: number): string {
  const fitting = cut(text, columns)
  return fitting + blank(columns - widthOf(fitting))
}

export function right(text: string, columns: number): string {
  const fitting = cut(text, columns)
  return blank(columns - widthOf(fitting)) + fitting
}

/** In a terminal that is narrower than what never changes, less than nothing is left. */
function blank(columns: number): string {
  return ' '.repeat(Math.max(0, columns))
}

/** Characters that take two columns count as one: the terminal is told not to wrap, so they are only cut. */
function widthOf(text: string): number {
  return Array.from(text).length
}

/** How many of the rows that are free each part gets: alike at first, then what is left to whoever wants more, the first ones first. */
export function shares(free: number, wants: readonly number[]): number[] {
  const alike = Math.max(0, Math.floor(free / wants.length))
  const given = wants.map((want) => Math.min(want, alike))
  let rest = Math.max(0, free) - given.reduce((sum, n) => sum + n, 0)
  return given.map((has, at) => {
    const more = Math.min(rest, (wants[at] ?? 0) - has)
    rest -= more
    return has + more
  })
}

/** The part of a list that is shown, so that the chosen one is in it. */
export function windowed<T>(
  items: readonly T[],
  chosen: number,
  rows: number,
): { from: number; shown: readonly T[] } {
  const from = Math.max(0, Math.min(chosen - Math.floor(rows / 2), items.length - rows))
  return { from, shown: items.slice(from, from + rows) }
}
