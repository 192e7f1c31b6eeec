/**
 * Bounds how many large responses are built at once, because each holds its jobs as records, values and text.
 * Callers take turns, so that one with many requests does not delay the others.
 */
import type { Context } from 'hono'
import type { Platform } from 'jobmill'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'

export type LargeReads = ReturnType<typeof largeReads>

export function largeReads(platform: Platform, mostAtOnce: number) {
  /** Waiting reads by caller, next one first. No entry is empty. */
  const waiting = new Map<string, (() => void)[]>()
  let running = 0

  function next(): void {
    const [first] = waiting
    if (first === undefined || running >= mostAtOnce) return
    const [caller, [start, ...others]] = first
    // The caller moves behind all others.
    waiting.delete(caller)
    if (others.length > 0) waiting.set(caller, others)
    running += 1
    start?.()
  }

  /** Runs a read when it is its turn, unless its client has left. */
  return async <T>(c: Context<Env>, read: () => Promise<T>): Promise<T> => {
    const caller = c.get('who')?.name ?? ''
    const { signal } = c.req.raw
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.set(caller, [...(waiting.get(caller) ?? []), resolve])
    next()
    await promise
    try {
      // No one receives this response.
      return signal.aborted ? (problem('BUSY') as never) : await read()
    } finally {
      // First lets the connection take the response, and other requests run.
      platform.nextTurn(() => {
        running -= 1
        next()
      })
    }
  }
}
