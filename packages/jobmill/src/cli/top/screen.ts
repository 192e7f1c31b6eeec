/**
 * Full-screen mode of the terminal: draws only rows that changed, and restores the terminal however the
 * process ends.
 */
import type { ReadStream, WriteStream } from 'node:tty'
import type { Size } from './pieces.ts'

interface ScreenEvents {
  readonly typed: (bytes: string) => void
  readonly resized: () => void
  /** Called when the input is closed. */
  readonly gone: () => void
}

const ESC = '\u001B['
// Alternate screen, hidden cursor, no wrapping.
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}2J`
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`

export function openScreen(input: ReadStream, output: WriteStream, events: ScreenEvents) {
  let shown: readonly string[] = []
  let isOpen = true
  const resized = (): void => {
    // Terminals rearrange lines when they are resized, so everything is redrawn.
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
  // Also runs after an uncaught error or a call to exit.
  process.on('exit', close)
  input.setRawMode(true)
  input.on('data', typed).on('end', events.gone).resume()
  output.on('resize', resized)
  output.write(ENTER)
  return {
    // Some terminals report 0 when they do not know their size.
    size: (): Size => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    /** One text for each row, at most as wide as the screen. */
    draw(rows: readonly string[]) {
      const changed = rows.flatMap((row, at) =>
        // Clear before writing: clearing after a full row would erase its last character.
        row === shown[at] ? [] : [`${ESC}${at + 1};1H${ESC}2K${row}`],
      )
      shown = [...rows]
      if (changed.length > 0 && isOpen) output.write(changed.join(''))
    },
    close,
  }
}
