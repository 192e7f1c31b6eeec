/** How limits are used: inside of a handler, and anywhere else. */
import type { Duration } from './duration.ts'

/** What was taken from a limit. `await using permit = await limit.acquire('db')` gives it back at the end of the block. */
export interface Permit extends AsyncDisposable {
  readonly limit: string
  /** Of a limit that counts for each key by itself. */
  readonly key?: string | undefined
  readonly amount: number
  /** Gives it back now. Of a rate there is nothing to give back. Twice is once; it never throws. */
  release(): Promise<void>
}

export interface DrainLimitOptions {
  /** What the upstream named: nothing is granted for so long, in any process (at most 24 h). Left out: only what had gathered is gone. */
  readonly retryAfter?: Duration
  /** Of a limit that counts for each key by itself: only this one waits. */
  readonly key?: string | undefined
}

/** How much is drawn, and for whom. */
export interface LimitDraw {
  /** Tokens or permits (default 1). */
  readonly amount?: number | undefined
  /** Of a limit that counts for each key by itself (`perKey`), and needed there: whose budget is meant. */
  readonly key?: string | undefined
}

/** For a handler, which may wait where it is. */
export interface WaitingDraw extends LimitDraw {
  /** How long, at most a second (the default). 0: its worker is free at once, and the job is due when there is budget. */
  readonly wait?: Duration | undefined
}

/** `limit` of a handler. */
export interface LimitInside {
  /**
   * Takes from a limit, and waits up to a second for that. When it takes longer it throws a `Snooze`: the job is due again when there is budget,
   * and its attempt is not spent. So call it before the work, and let what it throws pass. A permit is given back when the job ends, or by
   * `release`. A number is the amount; a limit that counts for each key by itself is told the key: `{ key: 'chat:42' }`.
   */
  readonly acquire: (name: string, draw?: number | WaitingDraw) => Promise<Permit>
  /** Never waits: null when there is nothing to be had now. */
  readonly tryAcquire: (name: string, draw?: number | LimitDraw) => Promise<Permit | null>
  /** The upstream refused: nobody gets anything for a while. */
  readonly drain: (name: string, options?: DrainLimitOptions) => Promise<void>
}

export interface AcquireOptions {
  /** Tokens or permits (default 1). */
  readonly amount?: number
  /** Ends the wait; what it throws is the reason of the signal. */
  readonly signal?: AbortSignal
  /** How long to wait at most; then it throws a `TimeoutError`, as `AbortSignal.timeout` does. Left out: as long as it takes. */
  readonly timeout?: Duration
}

/** Which of the budgets of a limit, where it counts for each key by itself. */
export type LimitOf = Pick<LimitDraw, 'key'>

/** A limit outside of handlers: the same budget. */
export interface LimitHandle {
  readonly name: string
  readonly key?: string | undefined
  /** Waits where it is, as long as it takes. Permits of a concurrency limit need a started mill, and are gone when it stops. */
  readonly acquire: (options?: AcquireOptions) => Promise<Permit>
  /** Never waits: null when there is nothing to be had now. */
  readonly tryAcquire: (amount?: number) => Promise<Permit | null>
  readonly drain: (options?: Omit<DrainLimitOptions, 'key'>) => Promise<void>
}
