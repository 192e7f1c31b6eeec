/** The end of what a child wrote: enough to see why it failed, however much it wrote before. */
import { StringDecoder } from 'node:string_decoder'
import { DEFAULTS } from '../../job/defaults.ts'

const KEPT_BYTES = 4_096
/** A stored error is cut at its end, where the reason stands, so that a message must not be too long. */
const IN_MESSAGE_BYTES = DEFAULTS.errorLimitChars - 512

export class Tail {
  #bytes = Buffer.alloc(0)
  #isCut = false

  add(chunk: Buffer): void {
    const isLonger = this.#bytes.length + chunk.length > KEPT_BYTES
    // Cut before they are joined, and copied: a chunk of megabytes is not held on to for its end.
    const joined = Buffer.concat([this.#bytes, chunk.subarray(-KEPT_BYTES)])
    this.#bytes = joined.subarray(-KEPT_BYTES)
    this.#isCut ||= isLonger
  }

  /** The last 4 KiB, without halves of characters, and without NUL, which PostgreSQL cannot keep. */
  text(mostBytes: number = KEPT_BYTES): string {
    const bytes = this.#bytes.subarray(-mostBytes)
    const isCut = this.#isCut || bytes.length < this.#bytes.length
    const whole = bytes.subarray(isCut ? firstCharacter(bytes) : 0)
    // What this leaves out is a character that was not written to its end.
    return new StringDecoder('utf8').write(whole).replaceAll('\u0000', '\u{fffd}')
  }

  /** As the end of a sentence: `: out of memory`, or nothing. */
  inMessage(): string {
    const text = this.text(IN_MESSAGE_BYTES).trim()
    return text === '' ? '' : `: ${text}`
  }
}

/** Where the first whole character begins: a character has at most three bytes after its first. */
function firstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 4).findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000)
  return Math.max(at, 0)
}
