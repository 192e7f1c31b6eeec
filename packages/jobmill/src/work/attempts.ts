/** The attempts of this process: which handlers run, and which outcomes are still to be written. */
import type { Attempt } from './attempt.ts'

export interface Attempts {
  add(attempt: Attempt): void
  /** The handler has ended: its slot is free. */
  end(attempt: Attempt): void
  /** Its outcome is written, or will never be. */
  forget(attempt: Attempt): void
  /** Handlers that run, all or of one queue. */
  running(queue?: string): number
  readonly live: Iterable<Attempt>
  /** Those whose outcome is not written yet. */
  readonly unwritten: number
  /** By job id: nearly always one, but a job that was taken back may be here twice. */
  find(id: string): Attempt[]
  /** Resolves when no handler runs. */
  idle(): Promise<void>
}

export function attempts(): Attempts {
  /**
   * An array in which each knows its place: a map or a set that thousands of jobs per second pass through leaves tables behind that the garbage collector
   * takes for alive, with all that stood in them.
   */
  const all: Attempt[] = []
  const perQueue = new Map<string, number>()
  /** By id; made when somebody asks, which is rare, and good until the next change. */
  let byId: Map<string, Attempt[]> | null = null
  let running = 0
  let awaited: (() => void)[] = []

  const count = (queue: string, by: number): void => {
    perQueue.set(queue, (perQueue.get(queue) ?? 0) + by)
    running += by
  }

  return {
    add(attempt) {
      byId = null
      attempt.place = all.push(attempt) - 1
      count(attempt.lease.queue, 1)
    },
    end(attempt) {
      if (attempt.ended) return
      attempt.ended = true
      count(attempt.lease.queue, -1)
      if (running > 0) return
      const done = awaited
      awaited = []
      for (const resolve of done) resolve()
    },
    forget(attempt) {
      if (all[attempt.place] !== attempt) return
      byId = null
      const last = all.pop()
      if (last === undefined || last === attempt) return
      all[attempt.place] = last
      last.place = attempt.place
    },
    running: (queue) => (queue === undefined ? running : (perQueue.get(queue) ?? 0)),
    live: all,
    get unwritten() {
      return all.length - running
    },
    find(id) {
      byId ??= Map.groupBy(all, ({ lease }) => lease.id)
      return byId.get(id) ?? []
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => awaited.push(resolve))),
  }
}
