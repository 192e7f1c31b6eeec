/** Keeps the end of a child's output: enough to see why it failed, however long the output was. */
import { StringDecoder } from 'node:string_decoder'
import { DEFAULTS } from '../../job/defaults.ts'

const KEPT_BYTES = 4_096
/** A stored error is truncated at its end, where the reason is, so the message must be short enough. */
const IN_MESSAGE_BYTES = DEFAULTS.errorLimitChars - 512

export class Tail {
  #bytes = Buffer.alloc(0)
  #isCut = false

  add(chunk: Buffer): void {
    const isLonger = this.#bytes.length + chunk.length > KEPT_BYTES
    // Cut before joining, and copied, so that a large chunk is not kept in memory for its end.
    const joined = Buffer.concat([this.#bytes, chunk.subarray(-KEPT_BYTES)])
    this.#bytes = joined.subarray(-KEPT_BYTES)
    this.#isCut ||= isLonger
  }

  /** The last 4 KiB, without partial characters, and without NUL, which PostgreSQL cannot store. */
  text(mostBytes: number = KEPT_BYTES): string {
    const bytes = this.#bytes.subarray(-mostBytes)
    const isCut = this.#isCut || bytes.length < this.#bytes.length
    const whole = bytes.subarray(isCut ? firstCharacter(bytes) : 0)
    // Drops a character whose bytes are incomplete.
    return new StringDecoder('utf8').write(whole).replaceAll('\u0000', '\u{fffd}')
  }

  /** As the end of a sentence: `: out of memory`, or nothing. */
  inMessage(): string {
    const text = this.text(IN_MESSAGE_BYTES).trim()
    return text === '' ? '' : `: ${text}`
  }
}

/** The index of the first whole character: a character has at most three continuation bytes. */
function firstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 4).findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000)
  return Math.max(at, 0)
}
