/**
 * Wrong tokens are rate-limited by address, before the database is asked. A token that was right before is not held back by those who guess from the same
 * address, since behind a proxy all callers have that of the proxy.
 */
import { createHash } from 'node:crypto'
import type { Platform } from 'jobmill'
import { pace } from 'jobmill/http'
import { Refusal } from '../refusal.ts'

/** For each address, with bursts of twice as many. */
const WRONG_PER_SECOND = 20
/** Tokens that are known to have been right; beyond that the one that was used least recently is forgotten. */
const MOST_KNOWN = 1_000

export type Tries = <H>(
  caller: { readonly address: string; readonly token: string },
  check: () => Promise<H>,
) => Promise<H>

/** `check` rejects with TOKEN_WRONG for a token that is. */
export function tries(platform: Platform): Tries {
  const wrong = pace({ perSecond: WRONG_PER_SECOND, now: () => platform.monotonic() })
  const right = new Set<string>()
  return async ({ address, token }, check) => {
    const hash = createHash('sha256').update(token).digest('base64')
    const waitMs = right.has(hash) ? 0 : wrong(address, 0)
    if (waitMs > 0)
      throw new Refusal('TRIES_TOO_MANY', {
        fix: 'Wait a moment, then send a token of this mailbox',
        retryAfter: Math.ceil(waitMs / 1_000),
      })
    try {
      const found = await check()
      // To the end: the first is the one that was used least recently.
      right.delete(hash)
      right.add(hash)
      const [oldest] = right
      if (right.size > MOST_KNOWN && oldest !== undefined) right.delete(oldest)
      return found
    } catch (error) {
      if (error instanceof Refusal && error.code === 'TOKEN_WRONG') {
        right.delete(hash)
        wrong(address)
      }
      throw error
    }
  }
}
