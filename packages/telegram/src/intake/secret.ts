/** Checks that a request knows the webhook secret, or the previous one during a rotation. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** Constant time for any input: it compares hashes, which have equal length, and checks every secret. */
export function isSecret(given: string | undefined, secrets: readonly string[]): boolean {
  const hash = hashOf(given ?? '')
  return secrets.map((secret) => timingSafeEqual(hash, hashOf(secret))).includes(true) && given !== undefined
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
