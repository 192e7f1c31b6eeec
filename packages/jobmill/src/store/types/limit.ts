/** Limits in the store: budgets shared by the whole cluster, and requests to acquire from them. */
import type { LimitParts, LimitSettings } from '../../job/limit/limit.ts'

export interface DeclaredLimit {
  readonly name: string
  /** The settings that code names. */
  readonly settings: LimitParts
}

export interface LimitRecord {
  readonly name: string
  readonly settings: LimitSettings
  /** Whole tokens or permits that can be acquired now. */
  readonly available: number
  /** Permits in use; 0 for a rate limit. */
  readonly held: number
  /**
   * Time until one more token or permit is available. 0 if one is available now; null if it depends on a
   * release.
   */
  readonly nextInMs: number | null
  /** How much longer a drain blocks all requests; 0 if there is none. */
  readonly drainedMs: number
  /**
   * For a per-key limit, the number of keys whose budget may not be full, counted up to 10,000. The numbers
   * above are then those of an unused key. Null for any other limit.
   */
  readonly keys: number | null
}

/** Upper bound for counting keys. */
export const KEYS_MOST = 10_000

export interface AcquireRequest {
  readonly limit: string
  /** The key whose budget is used. Required for a per-key limit. */
  readonly key?: string | undefined
  /** Tokens or permits, at least 1. */
  readonly amount: number
  /** The id of a job, or a generated id for a call outside of jobs. */
  readonly holder: string
  /** The instance that runs the holder. Its permits are released at the latest when it ends or is reaped. */
  readonly instance: string
  /**
   * The lease token of the job. A permit is granted only under the current token and is released when that
   * attempt ends. Null outside of jobs.
   */
  readonly token: number | null
  /** How long the holder is prepared to wait inside this call. */
  readonly waitUpToMs: number
}

/** Identifies the permit of a holder: its limit, and the lease token under which it was acquired. */
export type PermitOf = Pick<AcquireRequest, 'limit' | 'holder' | 'token'>

export type Acquired =
  /** The holder may proceed after `waitMs`, which is at most `waitUpToMs`. */
  | { readonly outcome: 'granted'; readonly waitMs: number }
  /**
   * Not available yet. Retry after `inMs`. A holder that may wait (`waitUpToMs` above 0) gets a place ahead
   * of new requests, unless the line is full.
   */
  | { readonly outcome: 'later'; readonly inMs: number }
  /** The request exceeds `most`, the maximum that can ever be granted at once. */
  | { readonly outcome: 'never'; readonly most: number }
  /** The token is not current. */
  | { readonly outcome: 'stale' }
  /** No limit has this name. */
  | { readonly outcome: 'unknown' }
  /**
   * If `perKey` is true, the limit is per key and the request has no key. If false, the request has a key but
   * the limit has none.
   */
  | { readonly outcome: 'wrong-key'; readonly perKey: boolean }
