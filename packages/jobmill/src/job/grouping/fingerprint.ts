/** Groups errors: two errors are the same if their kind and their key match. */
import { createHash } from 'node:crypto'
import { keyOf } from './key.ts'
import { constantsOf, shapeOf } from './shape.ts'

const HASH_DIGITS = 16

export const FINGERPRINT = /^[0-9a-f]{16}$/

interface Grouped {
  readonly fingerprint: string
  readonly shape: string
}

/**
 * Reports read the same errors every few seconds, and the rules take longer than the read. Long errors are
 * rare, and would take much memory.
 */
const recent = new Map<string, Grouped>()
const MOST_RECENT = 5_000
const MOST_CHARS = 1_000

export function fingerprintOf(kind: string, error: string | null): Grouped {
  const text = error ?? ''
  const asked = `${kind}\n${text}`
  const known = recent.get(asked)
  if (known !== undefined) return known
  const shape = shapeOf(text)
  const grouped = { fingerprint: hashOf([kind, keyOf(text, shape)]), shape }
  if (asked.length > MOST_CHARS) return grouped
  recent.set(asked, grouped)
  if (recent.size > MOST_RECENT) forgetOldest()
  return grouped
}

function forgetOldest(): void {
  for (const oldest of recent.keys()) {
    recent.delete(oldest)
    return
  }
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
