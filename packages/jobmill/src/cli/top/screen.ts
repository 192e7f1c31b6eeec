/** The terminal as a screen: its second page, drawn by difference, and given back as it was however the process ends. */
import type { ReadStream, WriteStream } from 'node:tty'
import type { Size } from './pieces.ts'

export interface Screen {
  readonly size: () => Size
  /** One text for each row, none wider than the screen. */
  readonly draw: (rows: readonly string[]) => void
  readonly close: () => void
}

export interface ScreenEvents {
  readonly typed: (bytes: string) => void
  readonly resized: () => void
  /** Nobody is there any more. */
  readonly gone: () => void
}

const ESC = '\u001B['
// The second page, no cursor, no wrapping.
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}2J`
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`

export function openScreen(input: ReadStream, output: WriteStream, events: ScreenEvents): Screen {
  let shown: readonly string[] = []
  let isOpen = true
  const resized = (): void => {
    // Terminals move lines about when they change their size: nothing that was drawn can be trusted.
    shown = []
    output.write(`${ESC}2J`)
    events.resized()
  }
  const typed = (bytes: Buffer): void => events.typed(bytes.toString())
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    output.write(LEAVE)
    input.setRawMode(false)
    input.pause()
    input.off('data', typed).off('end', events.gone)
    output.off('resize', resized)
    process.off('exit', close)
  }
  // An error that nobody catches, and whoever calls exit, come by here.
  process.on('exit', close)
  input.setRawMode(true)
  input.on('data', typed).on('end', events.gone).resume()
  output.on('resize', resized)
  output.write(ENTER)
  return {
    // Some terminals say 0 for not knowing it.
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    draw(rows) {
      const changed = rows.flatMap((row, at) =>
        // Cleared first: behind a row that is full, clearing would take its last character.
        row === shown[at] ? [] : [`${ESC}${at + 1};1H${ESC}2K${row}`],
      )
      shown = [...rows]
      if (changed.length > 0 && isOpen) output.write(changed.join(''))
    },
    close,
  }
}
