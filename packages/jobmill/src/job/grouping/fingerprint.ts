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
/**
 * More than one report reads: the last errors of 5,000 jobs, their first errors, and 1,500 from before
 * deploys. If it were less, each error would be forgotten before the next report reads it.
 */
const MOST_RECENT = 12_000
const MOST_CHARS = 1_000

export function fingerprintOf(kind: string, error: string | null): Grouped {
  const text = error ?? ''
  const asked = `${kind}\n${text}`
  const known = recent.get(asked)
  if (known !== undefined) return known
  const shape = shapeOf(text)
  const grouped = { fingerprint: hashOf([kind, keyOf(text, shape)]), shape }
  if (asked.length <= MOST_CHARS) remember(recent, asked, grouped, MOST_RECENT)
  return grouped
}

function remember<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

/** A report hashes three texts for each failure, and most failures have the same ones. */
const hashes = new Map<string, string>()
const MOST_HASHES = 1_000

export function hashOf(parts: readonly string[]): string {
  const text = parts.join('\n')
  const known = hashes.get(text)
  if (known !== undefined) return known
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
  if (text.length <= MOST_CHARS) remember(hashes, text, hash, MOST_HASHES)
  return hash
}

/** The constant parts of the shape that occur in the error, longest first. */
export function literalsOf(shape: string, error: string): string[] {
  return constantsOf(shape)
    .filter((part) => part !== '' && error.includes(part))
    .toSorted((a, b) => b.length - a.length)
}
