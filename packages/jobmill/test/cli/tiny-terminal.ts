/**
 * Emulates as much of a terminal as the command line uses: its visible rows and its mode. It rejects
 * everything else.
 */

export interface TinyTerminal {
  /** The output of a program. */
  feed(text: string): void
  resize(columns: number, rows: number): void
  /** The rows of the current screen, without trailing blanks. */
  readonly rows: () => string[]
  /** The rows of the main screen, which returns when the alternate screen is left. */
  readonly modes: { second: boolean; cursor: boolean; wraps: boolean }
  /** How many characters were written beyond the last column. */
  readonly overrun: () => number
}

// A whole sequence, an incomplete one at the end, or one character.
// oxlint-disable-next-line no-control-regex -- that is what terminals are sent
const PART = /\u001B\[([?]?)([\d;]*)([A-Za-z])|\u001B(?:\[[?\d;]*)?$|[\s\S]/gu

export function tinyTerminal(columns: number, rows: number): TinyTerminal {
  let size = { columns, rows }
  let pages = [blank(), blank()] as [string[][], string[][]]
  const modes = { second: false, cursor: true, wraps: true }
  let at = { row: 0, column: 0 }
  let overrun = 0
  let kept = ''

  function blank(): string[][] {
    return Array.from({ length: size.rows }, () => [])
  }
  const page = (): string[][] => pages[modes.second ? 1 : 0]

  function mode(number: string, on: boolean): void {
    if (number === '1049') modes.second = on
    else if (number === '25') modes.cursor = on
    else if (number === '7') modes.wraps = on
    // Sent by the shell and readline: bracketed paste.
    else if (number !== '2004') throw new Error(`the mode ${number} is not known here`)
  }

  function command(isPrivate: boolean, values: string, letter: string): void {
    const [first = 1, second = 1] = values.split(';').map((one) => (one === '' ? undefined : Number(one)))
    if (isPrivate) return mode(values, letter === 'h')
    if (letter === 'm') return
    if (letter === 'H') at = { row: first - 1, column: second - 1 }
    else if (letter === 'G') at.column = first - 1
    else if (letter === 'J' && values === '2') pages[modes.second ? 1 : 0] = blank()
    else if (letter === 'J') page()[at.row]?.splice(at.column)
    else if (letter === 'K' && values === '2') page()[at.row]?.splice(0)
    else throw new Error(`${values}${letter} is not known here`)
  }

  function put(character: string): void {
    if (character === '\r') at.column = 0
    else if (character === '\n') {
      at.row += 1
      if (at.row < size.rows) return
      at.row = size.rows - 1
      page().shift()
      page().push([])
    } else {
      if (at.column >= size.columns) overrun += 1
      const row = page()[at.row] ?? []
      while (row.length < at.column) row.push(' ')
      row[at.column] = character
      at.column += 1
    }
  }

  return {
    modes,
    overrun: () => overrun,
    rows: () =>
      page().map((row) =>
        Array.from(row, (one) => one ?? ' ')
          .join('')
          .trimEnd(),
      ),
    resize(columns, rows) {
      size = { columns, rows }
      pages = [blank(), blank()]
    },
    feed(text) {
      const all = kept + text
      kept = ''
      for (const [whole, isPrivate, values, letter] of all.matchAll(PART)) {
        if (letter !== undefined) command(isPrivate === '?', values ?? '', letter)
        else if (whole.startsWith('\u001B')) kept = whole
        else put(whole)
      }
    },
  }
}
