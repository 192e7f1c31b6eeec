/** Ids of jobs that follow from something else, so that writing them again creates no second job. */
import { createHash } from 'node:crypto'

/** A version 8 UUID from the hash of a text. */
export function derivedId(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(18, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}
