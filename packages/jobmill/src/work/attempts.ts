/** The attempts of this process: running handlers, and outcomes that are not written yet. */
import type { Attempt } from './attempt.ts'

export type Attempts = ReturnType<typeof attempts>

interface AttemptsOptions {
  /** Called once per attempt: its handler ended. */
  readonly ended: (attempt: Attempt) => void
  /** Called once per attempt: its outcome is written, or never will be. */
  readonly settled: () => void
}

export function attempts(options: AttemptsOptions) {
  /**
   * An array in which each attempt knows its index. A Map or Set under thousands of jobs per second leaves
   * old tables behind that the garbage collector keeps alive with their contents.
   */
  const all: Attempt[] = []
  /** Keyed by job id. Built on demand, which is rare, and valid until the next change. */
  let byId: Map<string, Attempt[]> | null = null
  let running = 0
  let awaited: (() => void)[] = []

  return {
    add(attempt: Attempt) {
      byId = null
      attempt.place = all.push(attempt) - 1
      running += 1
    },
    /** The handler has ended and its worker is free. */
    end(attempt: Attempt) {
      if (attempt.ended) return
      attempt.ended = true
      attempt.whenEnded?.()
      running -= 1
      options.ended(attempt)
      if (running > 0) return
      const done = awaited
      awaited = []
      for (const resolve of done) resolve()
    },
    /** The outcome is written, or never will be. */
    forget(attempt: Attempt) {
      if (all[attempt.place] !== attempt) return
      byId = null
      const last = all.pop()
      if (last !== undefined && last !== attempt) {
        all[attempt.place] = last
        last.place = attempt.place
      }
      options.settled()
    },
    /** Running handlers, in all queues or in one. */
    running(queue?: string) {
      if (queue === undefined) return running
      return all.filter(({ ended, lease }) => !ended && lease.queue === queue).length
    },
    live: all as Iterable<Attempt>,
    /** The number of attempts whose outcome is not written yet. */
    get unwritten() {
      return all.length - running
    },
    /** Attempts by job id. Almost always one, but a reclaimed job may be here twice. */
    find(id: string) {
      byId ??= Map.groupBy(all, ({ lease }) => lease.id)
      return byId.get(id) ?? []
    },
    /** Resolves when no handler is running. */
    idle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => awaited.push(resolve))),
  }
}
