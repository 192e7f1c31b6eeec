/** A progress bar on one terminal line. Prints nothing without a terminal. */
import { oneLine } from 'jobmill/cli'

const WIDTH = 30

export function progressBar(to: {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}) {
  let shown = ''
  const clear = '\r\u001B[2K'
  return {
    show(done: number, total: number, what: string): void {
      if (to.isTTY !== true) return
      const part = total === 0 ? 1 : Math.min(1, done / total)
      const filled = Math.round(part * WIDTH)
      const line = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${String(Math.floor(part * 100)).padStart(3)}%  ${megabytes(done)} of ${megabytes(total)} MB  ${oneLine(what)}`
      const fits = line.slice(0, (to.columns ?? 100) - 1)
      if (fits !== shown) to.write(`${clear}${fits}`)
      shown = fits
    },
    /** Removes the bar from the terminal. */
    end(): void {
      if (shown !== '') to.write(clear)
      shown = ''
    },
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
