/** One number for any number of things: equal for the same things in whatever order they come, since two databases do not sort texts alike. */
import { createHash } from 'node:crypto'

export interface Digest {
  /** How many were added. */
  readonly items: number
  /** 64 hex digits. */
  readonly checksum: string
}

export interface Digester {
  add(thing: unknown): void
  result(): Digest
}

const BITS = 256

/** The sum of the hashes of what was added. */
export function digester(): Digester {
  let items = 0
  let sum = 0n
  return {
    add(thing) {
      items += 1
      const hash = createHash('sha256').update(canonical(thing)).digest('hex')
      sum = BigInt.asUintN(BITS, sum + BigInt(`0x${hash}`))
    },
    result: () => ({ items, checksum: sum.toString(16).padStart(BITS / 4, '0') }),
  }
}

/** JSON in which the keys of every object are sorted. */
export function canonical(thing: unknown): string {
  return JSON.stringify(thing, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
