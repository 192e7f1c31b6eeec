/** What a parser has found so far, for whoever reads it at a pace of his own: files in their order, the end, or what went wrong. */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

interface Arrived {
  readonly name: string
  readonly type: string
  /** What its part says its size is; null where it does not. */
  readonly declared: number | null
  readonly stream: Readable
}

export interface Arrivals {
  readonly add: (file: Arrived) => void
  readonly end: () => void
  /** The first failure is the one that is told. Whoever reads a file hears of it too. */
  readonly fail: (error: Error) => void
  readonly failure: () => Error | null
  /** While the parser has bytes that it has not taken yet. */
  readonly feeding: (taken: Promise<void>) => Promise<void>
  /** The n-th file, null when there are fewer; rejects for a failure. */
  readonly next: (n: number) => Promise<Arrived | null>
  /** Of the last one, for what is said of it. */
  readonly lastName: () => string | null
}

/** Turns of the event loop in which a parser that can go on does so. */
const PATIENCE = 25

/** `stuck` is said when the parser takes nothing more although everything that it found was read: some bodies bring it to that. */
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
