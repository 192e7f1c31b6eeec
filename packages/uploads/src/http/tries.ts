/**
 * Rate-limits wrong tokens by address, before the database is queried. A token that worked before is exempt,
 * because all callers behind a proxy share its address.
 */
import { createHash } from 'node:crypto'
import type { Platform } from 'jobmill'
import { pace } from 'jobmill-server'
import { Refusal } from '../refusal.ts'
import { permits } from './permits.ts'

/** Per address, with bursts of twice as many. */
const WRONG_PER_SECOND = 20
/** The number of remembered valid tokens; the least recently used one is evicted. */
const MOST_KNOWN = 1_000

export type Tries = <H>(
  caller: { readonly address: string; readonly token: string },
  check: () => Promise<H>,
) => Promise<H>

/** `check` rejects with TOKEN_WRONG for a wrong token. */
export function tries(platform: Platform): Tries {
  const wrong = pace({ perSecond: WRONG_PER_SECOND, now: () => platform.monotonic() })
  const { acquire, release } = permits(wrong)
  const right = new Set<string>()

  function remember(hash: string): void {
    // Move it to the end, as the most recently used.
    right.delete(hash)
    right.add(hash)
    const [oldest] = right
    if (right.size > MOST_KNOWN && oldest !== undefined) right.delete(oldest)
  }

  return async ({ address, token }, check) => {
    const hash = createHash('sha256').update(token).digest('base64')
    const isKnown = right.has(hash)
    const waitMs = isKnown ? 0 : await acquire(address)
    if (waitMs > 0)
      throw new Refusal('TRIES_TOO_MANY', {
        fix: 'Wait a moment, then send a token of this mailbox',
        retryAfter: Math.ceil(waitMs / 1_000),
      })
    let isWrong = false
    try {
      const found = await check()
      remember(hash)
      return found
    } catch (error) {
      isWrong = error instanceof Refusal && error.code === 'TOKEN_WRONG'
      if (isWrong) right.delete(hash)
      throw error
    } finally {
      if (!isKnown) release(address, isWrong)
      else if (isWrong) wrong(address)
    }
  }
}
