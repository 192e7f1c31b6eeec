/** Groups errors: two errors are the same if their kind and their key match. */
import { createHash } from 'node:crypto'
import { keyOf } from './key.ts'
import { constantsOf, shapeOf } from './shape.ts'

const HASH_DIGITS = 16

export const FINGERPRINT = /^[0-9a-f]{16}$/

export function fingerprintOf(kind: string, error: string | null) {
  const text = error ?? ''
  const shape = shapeOf(text)
  return { fingerprint: hashOf([kind, keyOf(text, shape)]), shape }
}

export function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, HASH_DIGITS)
}

/** The constant parts of the shape that occur in the error, longest first. */
export function literalsOf(shape: string, error: string): string[] {
  return constantsOf(shape)
    .filter((part) => part !== '' && error.includes(part))
    .toSorted((a, b) => b.length - a.length)
}
