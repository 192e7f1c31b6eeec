/** Rows in columns, as wide as they need to be. */
import { oneLine } from './plain.ts'
import type { Style, Terminal } from './terminal.ts'

export type Cell = string | number | null | Painted

/** Painted only where there are colours. */
export interface Painted {
  readonly text: string
  readonly style: Style
}

type Paint = Pick<Terminal, 'paint'>

/** Numbers to the right. Without rows, what `otherwise` says. */
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
        // Nothing behind the last column.
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

function textOf(cell: Cell): string {
  if (cell === null) return '-'
  return typeof cell === 'number' ? String(cell) : oneLine(typeof cell === 'string' ? cell : cell.text)
}

function styleOf(cell: Cell | undefined): Style | undefined {
  return typeof cell === 'object' && cell !== null ? cell.style : undefined
}

/** Names on the left, what they stand for on the right; what is null is left out. Further lines stand under the first. */
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
