/**
 * Passes the files that the multipart parser finds to a reader that has its own pace: in order, then the end
 * or a failure.
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

export type Arrivals = ReturnType<typeof arrivals>

/** A parser that can progress does so within this many turns of the event loop. */
const PATIENCE = 25

/**
 * `stuck` creates the error for a parser that stops although all its output was read, which some bodies
 * cause.
 */
export function arrivals(stuck: () => Error) {
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
  /** Keeps the first failure, which readers of a file get too. */
  function fail(error: Error): void {
    state.failure ??= error
    for (const { stream } of files) stream.destroy()
    changed()
  }
  return {
    add(file: Arrived): void {
      files.push(file)
      changed()
    },
    end(): void {
      state.isDone = true
      changed()
    },
    fail,
    /** Tracks bytes that the parser has not consumed yet. */
    async feeding(taken: Promise<void>): Promise<void> {
      both.moves += 1
      both.isFed = true
      if (both.isAsked) void watch()
      await taken
      both.isFed = false
    },
    failure: (): Error | null => state.failure,
    /** The n-th file, or null if there are fewer. Rejects after a failure. */
    async next(n: number): Promise<Arrived | null> {
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
    /** The name of the last file, for error messages. */
    lastName: (): string | null => files.at(-1)?.name ?? null,
  }
}
