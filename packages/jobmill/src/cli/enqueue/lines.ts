/** Splits a stream into numbered lines, and never buffers more than the longest allowed line. */
import type { Readable } from 'node:stream'
import type { JobmillError } from '../../job/errors.ts'
import { invalid } from '../program/invalid.ts'

export interface Line {
  /** Starts at 1 and counts blank lines. */
  readonly number: number
  readonly bytes: Buffer
}

const FEED = 10
/** Several times the limit of a payload, because white space and escapes count here. */
const LONGEST_BYTES = 16 * 1024 * 1024

/** Ends early when the signal fires. */
export async function* linesOf(
  input: Readable,
  signal: AbortSignal,
  longestBytes: number = LONGEST_BYTES,
): AsyncGenerator<Line> {
  const stop = (): void => void input.destroy()
  signal.addEventListener('abort', stop, { once: true })
  let number = 0
  let kept: Buffer[] = []
  let keptBytes = 0
  const take = (last: Buffer): Line => {
    const bytes = kept.length === 0 ? last : Buffer.concat([...kept, last])
    kept = []
    keptBytes = 0
    number += 1
    return { number, bytes }
  }
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let from = 0
      for (let to = chunk.indexOf(FEED); to !== -1; to = chunk.indexOf(FEED, from)) {
        yield take(chunk.subarray(from, to))
        from = to + 1
      }
      if (from === chunk.length) continue
      kept.push(chunk.subarray(from))
      keptBytes += chunk.length - from
      if (keptBytes > longestBytes) throw tooLong(number + 1, longestBytes)
    }
    if (keptBytes > 0) yield take(Buffer.alloc(0))
  } catch (error) {
    // The abort closed the stream in the middle of a line.
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function tooLong(number: number, most: number): JobmillError {
  const fix = 'Write one payload on each line'
  return invalid(`line ${number}`, `is longer than ${most} bytes`, fix, undefined, 'PAYLOAD_TOO_LARGE')
}
