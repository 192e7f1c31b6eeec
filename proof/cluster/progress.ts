/** Shows progress: a line that is overwritten on a terminal, and a line per second elsewhere. */

export interface Progress {
  /** Prints a line that stays. */
  readonly say: (text: string) => void
  /** Starts to print `now()` once a second. */
  readonly begin: (now: () => string) => void
  readonly end: () => void
}

export function progress(out: NodeJS.WriteStream, elapsedMs: () => number): Progress {
  let timer: NodeJS.Timeout | undefined
  let isShown = false

  function line(text: string): string {
    return `${(elapsedMs() / 1_000).toFixed(1).padStart(6)} s  ${text}`
  }
  function clear(): void {
    if (isShown) out.write('\r\u001B[2K')
    isShown = false
  }
  function show(text: string): void {
    clear()
    isShown = out.isTTY
    out.write(out.isTTY ? line(text).slice(0, (out.columns || 80) - 1) : `${line(text)}\n`)
  }

  return {
    say(text) {
      clear()
      out.write(`${line(text)}\n`)
    },
    begin(now) {
      timer = setInterval(() => show(now()), 1_000)
    },
    end() {
      clearInterval(timer)
      clear()
    },
  }
}
