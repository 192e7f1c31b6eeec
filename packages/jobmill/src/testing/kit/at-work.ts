/** Which handlers run at the moment: on one clock all mills together, because who waits for one mill waits for what the others do for it. */
import type { Platform } from '../../platform/platform.ts'
import type { Middleware } from '../../work/handler.ts'

export interface AtWork {
  /** Goes around every handler. */
  readonly middleware: Middleware
  readonly size: number
  /** How many were started so far, by kind. */
  readonly started: ReadonlyMap<string, number>
  /** Resolves when one of those that run has ended, in however much real time it takes. */
  oneEnds(): Promise<void>
  /** Hears of every start, until what it returns is called. */
  onStart(listener: () => void): () => void
}

const perClock = new WeakMap<Platform, AtWork>()

export function atWork(platform: Platform): AtWork {
  const known = perClock.get(platform) ?? create()
  perClock.set(platform, known)
  return known
}

function create(): AtWork {
  const running = new Set<Promise<void>>()
  const started = new Map<string, number>()
  const listeners = new Set<() => void>()
  return {
    started,
    get size() {
      return running.size
    },
    middleware(context, next) {
      const { kind } = context.job
      started.set(kind, (started.get(kind) ?? 0) + 1)
      for (const listener of listeners) listener()
      const work = next()
      const ended = work
        .then(
          () => {},
          () => {},
        )
        .finally(() => running.delete(ended))
      running.add(ended)
      return work
    },
    oneEnds: () => Promise.race(running),
    onStart(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
