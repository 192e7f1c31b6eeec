/** Limits in the store: cluster-wide budgets, and who draws on them. */
import type { LimitParts, LimitSettings } from '../job/limit.ts'

export interface DeclaredLimit {
  readonly name: string
  /** What code names of it. */
  readonly settings: LimitParts
}

export interface LimitRecord {
  readonly name: string
  readonly settings: LimitSettings
  /** Whole tokens, or permits, that could be taken now. */
  readonly available: number
  /** Permits that are out; 0 for a rate. */
  readonly held: number
  /** How long until one more can be taken: 0 when one can be now, null when only a release can tell. */
  readonly nextInMs: number | null
  /** How much longer a drain keeps everything back; 0 when none does. */
  readonly drainedMs: number
  /**
   * Of a limit that counts for each key by itself: how many keys have a budget that is not known to be full, counted up to 10,000. The figures above are then those
   * of a key that was never used. Null for every other limit.
   */
  readonly keys: number | null
}

/** How far keys are counted. */
export const KEYS_MOST = 10_000

export interface AcquireRequest {
  readonly limit: string
  /** Of a limit that counts for each key by itself: whose budget is meant. */
  readonly key?: string | undefined
  /** Tokens or permits, at least 1. */
  readonly amount: number
  /** Who asks: the id of a job, or an id minted for a call outside of jobs. */
  readonly holder: string
  /** The instance that runs it. A permit is given back at the latest when this instance ends or is reaped. */
  readonly instance: string
  /** The token of the job's claim: a permit is given only under the current one, and goes with the end of that attempt. Null outside of jobs. */
  readonly token: number | null
  /** How long the holder is ready to wait where it is. */
  readonly waitUpToMs: number
}

/** The permit that a holder has of a limit, under the token that it was taken under. */
export type PermitOf = Pick<AcquireRequest, 'limit' | 'holder' | 'token'>

export type Acquired =
  /** It may go on after this wait, which is at most `waitUpToMs`. */
  | { readonly outcome: 'granted'; readonly waitMs: number }
  /** Not now. Come back after this long: the holder has a place in the line and goes before newcomers then. */
  | { readonly outcome: 'later'; readonly inMs: number }
  /** It asks for more than can ever be had at once, which is this. */
  | { readonly outcome: 'never'; readonly most: number }
  /** The token is not current. */
  | { readonly outcome: 'stale' }
  /** No limit has this name. */
  | { readonly outcome: 'unknown' }
  /** The limit counts for each key by itself and no key is named; or, where `perKey` is false, the other way round. */
  | { readonly outcome: 'wrong-key'; readonly perKey: boolean }
