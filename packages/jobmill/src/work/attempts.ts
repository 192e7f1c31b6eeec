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
  const all = new Set<Attempt>()
  const perQueue = new Map<string, number>()
  let running = 0
  let awaited: (() => void)[] = []

  const count = (queue: string, by: number): void => {
    perQueue.set(queue, (perQueue.get(queue) ?? 0) + by)
    running += by
  }
  const byId = new Map<string, Attempt[]>()

  return {
    add(attempt) {
      all.add(attempt)
      byId.set(attempt.lease.id, [...(byId.get(attempt.lease.id) ?? []), attempt])
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
      all.delete(attempt)
      const left = (byId.get(attempt.lease.id) ?? []).filter((one) => one !== attempt)
      if (left.length === 0) byId.delete(attempt.lease.id)
      else byId.set(attempt.lease.id, left)
    },
    running: (queue) => (queue === undefined ? running : (perQueue.get(queue) ?? 0)),
    live: all,
    get unwritten() {
      return all.size - running
    },
    find: (id) => byId.get(id) ?? [],
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => awaited.push(resolve))),
  }
}
