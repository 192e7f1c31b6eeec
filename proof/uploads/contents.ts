/** The uploaded files: realistic sizes, unique contents, and their hashes. */
import { createHash, randomBytes } from 'node:crypto'

const SMALLEST = 1_000
export const LARGEST = 20_000_000

export interface Content {
  readonly name: string
  readonly parts: readonly Uint8Array[]
  readonly size: number
  readonly sha256: string
}

const HEAD_BYTES = 16
const pool = randomBytes(LARGEST)

/**
 * The size of file `n` of `of`: a power law between the smallest and the largest. Half are below 4 KB, one in
 * forty above 1 MB, one in three hundred above 10 MB.
 */
export function sizeOf(n: number, of: number): number {
  const u = (n + 0.5) / of
  const rest = 1 - u * (1 - Math.sqrt(SMALLEST / LARGEST))
  return Math.min(LARGEST, Math.round(SMALLEST / rest ** 2))
}

export function contentOf(n: number, size: number): Content {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeDoubleBE(n)
  const rest = pool.subarray(0, size - HEAD_BYTES)
  const sha256 = createHash('sha256').update(head).update(rest).digest('hex')
  return { name: `${n}.bin`, parts: [head, rest], size, sha256 }
}

/** All numbers below `count`, in a deterministic shuffled order. */
export function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n).toSorted((a, b) => mixed(a) - mixed(b) || a - b)
}

/** Of a hundred files, two are never fetched, and two are fetched and never acknowledged. */
export function fateOf(n: number): 'acked' | 'fetched' | 'left' {
  const percent = mixed(n) % 100
  return percent < 2 ? 'left' : percent < 4 ? 'fetched' : 'acked'
}

function mixed(n: number): number {
  return Math.imul(n + 1, 2_654_435_761) >>> 8
}
