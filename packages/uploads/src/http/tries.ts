/**
 * Rate-limits wrong tokens by address, before the database is queried. A token that worked before for this
 * mailbox is exempt, because all callers behind a proxy share its address.
 */
import { createHash } from 'node:crypto'
import type { Platform } from 'jobmill'
import { type Pace, pace } from 'jobmill-server'
import { Refusal } from '../refusal.ts'

/** Per address, with bursts of twice as many. */
const WRONG_PER_SECOND = 20
/** The number of remembered valid tokens; the least recently used one is evicted. */
const MOST_KNOWN = 10_000

interface Caller {
  readonly address: string
  readonly mailbox: string
  readonly token: string
}

export type Tries = ReturnType<typeof tries>

/** `check` rejects with TOKEN_WRONG for a wrong token. */
export function tries(platform: Platform) {
  const wrong = pace({ perSecond: WRONG_PER_SECOND, now: () => platform.monotonic() })
  const lookups = permits(wrong)
  const right = new Set<string>()

  function remember(hash: string): void {
    // Move it to the end, as the most recently used.
    right.delete(hash)
    right.add(hash)
    const [oldest] = right
    if (right.size > MOST_KNOWN && oldest !== undefined) right.delete(oldest)
  }

  return async <H>({ address, mailbox, token }: Caller, check: () => Promise<H>): Promise<H> => {
    const hash = createHash('sha256').update(`${mailbox}\n${token}`).digest('base64')
    const isKnown = right.has(hash)
    const waitMs = isKnown ? 0 : await lookups.acquire(address)
    if (waitMs > 0) throw new Refusal('TRIES_TOO_MANY', { retryAfter: Math.ceil(waitMs / 1_000) })
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
      if (!isKnown) lookups.release(address, isWrong)
      else if (isWrong) wrong(address)
    }
  }
}

interface Lookups {
  running: number
  /** Requests that found no permit. Each waits for one lookup: true passes its permit on. */
  readonly waiting: ((isGiven: boolean) => void)[]
}

/**
 * Permits for lookups of unknown tokens. A lookup takes its permit before it starts, so that parallel
 * requests cannot exceed the limit, and gives it back if the token was not wrong.
 */
function permits(limit: Pace) {
  const all = new Map<string, Lookups>()

  function start(address: string): number {
    const waitMs = limit(address)
    if (waitMs > 0) return waitMs
    const lookups = all.get(address) ?? { running: 0, waiting: [] }
    lookups.running += 1
    all.set(address, lookups)
    return 0
  }

  return {
    /** Resolves with 0 when the lookup may start, or with the milliseconds until the next permit. */
    async acquire(address: string): Promise<number> {
      const waitMs = start(address)
      const lookups = all.get(address)
      if (waitMs === 0 || lookups === undefined) return waitMs
      // Valid tokens are unknown after a restart, and many callers may send theirs at once. So wait for
      // the lookups in progress, which may give their permits back.
      const isGiven = await new Promise<boolean>((resolve) => lookups.waiting.push(resolve))
      return isGiven ? 0 : start(address)
    },

    /** Ends a lookup. A wrong token uses up its permit. */
    release(address: string, isUsedUp: boolean): void {
      const lookups = all.get(address)
      if (lookups === undefined) return
      const next = lookups.waiting.shift()
      next?.(!isUsedUp)
      if (!isUsedUp && next !== undefined) return
      if (!isUsedUp) limit(address, -1)
      lookups.running -= 1
      if (lookups.running > 0) return
      all.delete(address)
      for (const resolve of lookups.waiting) resolve(false)
    },
  }
}
