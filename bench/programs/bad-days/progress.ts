let shownAt = 0

/** Shows how far a run is: in place on a terminal, otherwise a line every 10 s. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
  else if (text !== '' && performance.now() > shownAt + 10_000) {
    shownAt = performance.now()
    console.error(`  ${text}`)
  }
}
