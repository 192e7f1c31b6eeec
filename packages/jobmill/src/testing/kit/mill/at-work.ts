/**
 * Tracks the running handlers of all mills on one clock, because a caller that waits for one mill also waits
 * for what other mills do for it.
 */
import type { JobContext } from '../../../job/context.ts'
import type { ChunkRun } from '../../../job/kind/chunk.ts'
import { type AnyJob, isDefinition } from '../../../job/kind/definition.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Middleware } from '../../../work/handler.ts'
import type { LeapingMill } from './leaping-mill.ts'

export type AtWork = ReturnType<typeof create>

const perClock = new WeakMap<Platform, AtWork>()

export function atWork(platform: Platform): AtWork {
  const known = perClock.get(platform) ?? create()
  perClock.set(platform, known)
  return known
}

function create() {
  const running = new Set<Promise<void>>()
  const started = new Map<string, number>()
  const listeners = new Set<() => void>()
  const mills = new Set<LeapingMill>()
  const chunkKinds = new Set<string>()
  /** The ids of jobs that wait for their chunk. */
  const inNoChunk = new Set<string>()
  let waiting = 0
  let moved = Promise.withResolvers<void>()

  function moves(): void {
    moved.resolve()
    moved = Promise.withResolvers()
  }

  /** The same limit, which also records that the handler is waiting. */
  function countWaits({ limit }: JobContext): Pick<JobContext, 'limit'> {
    const acquire: JobContext['limit']['acquire'] = async (...args) => {
      waiting += 1
      moves()
      try {
        return await limit.acquire(...args)
      } finally {
        waiting -= 1
      }
    }
    return { limit: { ...limit, acquire } }
  }

  /** The same definition, which also records that the jobs of a chunk no longer wait. */
  function watchChunks<J extends AnyJob>(job: J): J {
    // An invalid job is passed on, so that the mill reports it.
    if (!isDefinition(job) || job.chunk === undefined) return job
    chunkKinds.add(job.kind)
    const run: ChunkRun = (context) => {
      for (const one of context.jobs) inNoChunk.delete(one.job.id)
      return (job.run as unknown as ChunkRun)(context)
    }
    return { ...job, run }
  }

  /** Wraps every handler. */
  const middleware: Middleware = (context, next) => {
    const { id, kind } = context.job
    started.set(kind, (started.get(kind) ?? 0) + 1)
    for (const listener of listeners) listener()
    Object.assign(context, countWaits(context))
    if (chunkKinds.has(kind)) {
      inNoChunk.add(id)
      moves()
    }
    const work = next()
    const ended = work
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        running.delete(ended)
        inNoChunk.delete(id)
        moves()
      })
    running.add(ended)
    return work
  }

  return {
    middleware,
    watchChunks,
    /** The started mills. */
    mills,
    /** The number of started handlers, by kind. */
    started: started as ReadonlyMap<string, number>,
    /** The number of running jobs that wait for a limit or a chunk. These waits end when the clock moves. */
    get waiting() {
      return waiting + inNoChunk.size
    },
    get size() {
      return running.size
    },
    /**
     * Resolves when a running handler has ended or started to wait, however much real time it
     * takes.
     */
    oneMoves: () => moved.promise,
    /** Calls the listener at every start. Returns a function that unsubscribes. */
    onStart(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
