/** What a parser has found so far, for whoever reads it at a pace of his own: files in their order, the end, or what went wrong. */
import type { Readable } from 'node:stream'

export interface Arrived {
  readonly name: string
  readonly type: string
  readonly stream: Readable
}

export interface Arrivals {
  readonly add: (file: Arrived) => void
  readonly end: () => void
  /** The first failure is the one that is told. Whoever reads a file hears of it too. */
  readonly fail: (error: Error) => void
  readonly failure: () => Error | null
  /** The n-th file, null when there are fewer; rejects for a failure. */
  readonly next: (n: number) => Promise<Arrived | null>
  /** Of the last one, for what is said of it. */
  readonly lastName: () => string | null
}

export function arrivals(): Arrivals {
  const files: Arrived[] = []
  const state: { failure: Error | null; isDone: boolean } = { failure: null, isDone: false }
  let turn = Promise.withResolvers<void>()
  const changed = (): void => {
    turn.resolve()
    turn = Promise.withResolvers<void>()
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
    fail(error) {
      state.failure ??= error
      for (const { stream } of files) stream.destroy()
      changed()
    },
    failure: () => state.failure,
    async next(n) {
      for (;;) {
        if (state.failure !== null) throw state.failure
        const file = files[n]
        if (file !== undefined) return file
        if (state.isDone) return null
        await turn.promise
      }
    },
    lastName: () => files.at(-1)?.name ?? null,
  }
}
