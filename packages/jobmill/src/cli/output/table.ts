/** Formats rows as a table whose columns are as wide as needed. */
import { safeLine } from '../../job/text/safe-text.ts'
import type { Style, Terminal } from './terminal.ts'

export type Cell = string | number | null | Painted

/** Text with a style, applied only where colors are enabled. */
export interface Painted {
  readonly text: string
  readonly style: Style
}

type Paint = Pick<Terminal, 'paint'>

/** Aligns numbers to the right. Returns `otherwise` when there are no rows. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  otherwise: string,
  { paint }: Paint = { paint: (_, text) => text },
): string {
  if (rows.length === 0) return otherwise
  const texts = rows.map((row) => row.map(textOf))
  const widths = heads.map((head, at) => Math.max(head.length, ...texts.map((row) => row[at]?.length ?? 0)))
  const isNumber = heads.map(
    (_, at) =>
      rows.every((row) => typeof row[at] === 'number' || row[at] === null) &&
      rows.some((row) => row[at] !== null),
  )
  const line = (cells: readonly string[], styleAt: (at: number) => Style | undefined): string =>
    cells
      .map((cell, at) => {
        const blank = ' '.repeat((widths[at] ?? 0) - cell.length)
        const style = styleAt(at)
        const text = style === undefined || cell === '' ? cell : paint(style, cell)
        // The last column needs no padding.
        if (isNumber[at] === true) return `${blank}${text}`
        return at === cells.length - 1 ? text : `${text}${blank}`
      })
      .join('  ')
      .trimEnd()
  return [
    line(heads, () => 'bold'),
    ...texts.map((row, at) => line(row, (to) => styleOf(rows[at]?.[to]))),
  ].join('\n')
}

/** The cells of an item by the head of their column. */
export type Columns<T> = Readonly<Record<string, (item: T) => Cell>>

export function tableOf<T>(
  items: readonly T[],
  columns: Columns<T>,
  otherwise: string,
  paint: Paint,
): string {
  const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)))
  return table(Object.keys(columns), rows, otherwise, paint)
}

function textOf(cell: Cell): string {
  if (cell === null) return '-'
  return typeof cell === 'number' ? String(cell) : safeLine(typeof cell === 'string' ? cell : cell.text)
}

function styleOf(cell: Cell | undefined): Style | undefined {
  return typeof cell === 'object' && cell !== null ? cell.style : undefined
}

/**
 * Formats names on the left and values on the right. Rows with null are omitted; further lines are indented.
 */
export function listing(rows: readonly (readonly [string, string | null])[], { paint }: Paint): string {
  const kept = rows.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const]))
  const width = Math.max(0, ...kept.map(([name]) => name.length)) + 2
  return kept
    .map(([name, text]) => {
      const lines = text.split('\n').join(`\n${' '.repeat(width)}`)
      return `${paint('bold', name)}${' '.repeat(width - name.length)}${lines}`
    })
    .join('\n')
}
