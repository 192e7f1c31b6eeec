/**
 * A checksum of a set of items that does not depend on their order, because two databases may sort text
 * differently.
 */
import { createHash } from 'node:crypto'

export interface Digest {
  /** The number of items. */
  readonly items: number
  /** 64 hex digits. */
  readonly checksum: string
}

export interface Digester {
  add(thing: unknown): void
  result(): Digest
}

const BITS = 256

/** Adds up the hashes of the items. */
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

/** JSON with the keys of every object sorted. */
export function canonical(thing: unknown): string {
  return JSON.stringify(thing, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
