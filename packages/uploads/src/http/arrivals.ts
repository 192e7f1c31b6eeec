/**
 * Passes the files that the multipart parser finds to a reader with its own pace: in order, then the end or a
 * failure.
 */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

interface Arrived {
  readonly name: string
  readonly type: string
  /** The size that the part declares; null for none. */
  readonly declared: number | null
  readonly stream: Readable
}

export interface Arrivals {
  readonly add: (file: Arrived) => void
  readonly end: () => void
  /** Keeps the first failure, which readers of a file get too. */
  readonly fail: (error: Error) => void
  readonly failure: () => Error | null
  /** Tracks bytes that the parser has not consumed yet. */
  readonly feeding: (taken: Promise<void>) => Promise<void>
  /** The n-th file, or null if there are fewer. Rejects after a failure. */
  readonly next: (n: number) => Promise<Arrived | null>
  /** The name of the last file, for error messages. */
  readonly lastName: () => string | null
}

/** Event loop turns within which a parser that can progress does so. */
const PATIENCE = 25

/**
 * `stuck` creates the error for a parser that stops although all its output was read, which some bodies
 * cause.
 */
export function arrivals(stuck: () => Error): Arrivals {
  const files: Arrived[] = []
  const state: { failure: Error | null; isDone: boolean } = { failure: null, isDone: false }
  const both = { isFed: false, isAsked: false, moves: 0 }
  let turn = Promise.withResolvers<void>()
  async function watch(): Promise<void> {
    const { moves } = both
    for (let turns = 0; turns < PATIENCE; turns += 1) {
      await nextTurn()
      if (!both.isFed || !both.isAsked || both.moves !== moves) return
    }
    fail(stuck())
  }
  const changed = (): void => {
    both.moves += 1
    turn.resolve()
    turn = Promise.withResolvers<void>()
  }
  function fail(error: Error): void {
    state.failure ??= error
    for (const { stream } of files) stream.destroy()
    changed()
  }
  return {
    add(file) {
      files.push(file)
      changed()
    },
    end() {
      state.isDone = true
      changed()
    },
    fail,
    async feeding(taken) {
      both.moves += 1
      both.isFed = true
      if (both.isAsked) void watch()
      await taken
      both.isFed = false
    },
    failure: () => state.failure,
    async next(n) {
      for (;;) {
        if (state.failure !== null) throw state.failure
        const file = files[n]
        if (file !== undefined) return file
        if (state.isDone) return null
        both.isAsked = true
        if (both.isFed) void watch()
        await turn.promise
        both.isAsked = false
      }
    },
    lastName: () => files.at(-1)?.name ?? null,
  }
}
