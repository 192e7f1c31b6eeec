/** Splits bytes from a pipe into lines. */

const NEWLINE = 0x0a

export class LineSplitter {
  readonly #mostBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /**
   * Yields every line that ends in this chunk. Yields null for a line that is too long, and nothing after it.
   */
  *add(chunk: Buffer): Generator<string | null, void> {
    let from = 0
    while (from < chunk.length) {
      const at = chunk.indexOf(NEWLINE, from)
      const part = chunk.subarray(from, at === -1 ? undefined : at)
      this.#parts.push(part)
      this.#bytes += part.length
      if (this.#bytes > this.#mostBytes) {
        this.#parts = []
        yield null
        return
      }
      if (at === -1) return
      yield this.#line()
      from = at + 1
    }
  }

  #line(): string {
    // Decoded as a whole, because a character may span two chunks.
    const line = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#bytes = 0
    return line
  }
}
