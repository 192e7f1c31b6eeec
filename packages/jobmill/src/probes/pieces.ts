/**
 * Joins the small chunks of a request body. Node creates a buffer for each, so a body in chunks of one byte
 * would take a hundred times its size in memory, and keep the process from other work while it is parsed.
 */
import type { IncomingMessage } from 'node:http'

export type Pieces = ReturnType<typeof joinPieces>

/** Smaller chunks are copied. */
const SMALL_BYTES = 1_024
const MANY = 64
const LEAST_BYTES = 1_024
const FIRST_BYTES = 4_096
const MOST_BYTES = 65_536

export function joinPieces(incoming: IncomingMessage) {
  const push = incoming.push.bind(incoming)
  let small: Buffer[] = []
  let count = 0
  let nextBytes = FIRST_BYTES
  let areMany = false

  function join(): boolean {
    if (small.length === 0) return true
    const joined = Buffer.concat(small)
    small = []
    return push(joined)
  }

  incoming.push = (chunk: Buffer | null, ...rest) => {
    count += 1
    if (chunk !== null && chunk.length < SMALL_BYTES) return small.push(chunk) > 0
    join()
    return push(chunk, ...rest)
  }

  return {
    /** How many bytes to parse next: few after many pieces. */
    get nextBytes() {
      return nextBytes
    },
    /** Whether the bytes that were parsed last contained many pieces. */
    get areMany() {
      return areMany
    },
    /** Call it after each parse. False if the body has to be read first. */
    flush() {
      areMany = count >= MANY
      nextBytes = areMany ? LEAST_BYTES : Math.min(2 * nextBytes, MOST_BYTES)
      count = 0
      return join()
    },
    isFull: () => incoming.readableLength >= incoming.readableHighWaterMark,
  }
}
