/** Opens and closes a store, whatever the order of the calls: twice, close before open, close during open. */
import { JobmillError } from '../job/errors.ts'

export type Lifecycle<Parts> = ReturnType<typeof createLifecycle<Parts>>

/** `start` may fail once `closing` fires, instead of waiting for the database any longer. */
export function createLifecycle<Parts>(
  start: (closing: AbortSignal) => Promise<Parts>,
  end: (parts: Parts) => void | Promise<void>,
) {
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
  let closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  /** The parts of the open store. Throws STORE_CLOSED if it is not open. */
  const use = (): Parts => {
    if (opened === undefined) throw storeClosed()
    return opened
  }
  return {
    use,
    /** Runs one verb. `close` waits until it has ended. Fails with STORE_CLOSED if the store is not open. */
    async run<T>(verb: (parts: Parts) => Promise<T>): Promise<T> {
      const work = verb(use())
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },
    async open(): Promise<void> {
      if (opening === undefined) {
        closing = new AbortController()
        opening = start(closing.signal)
      }
      const mine = opening
      try {
        const parts = await mine
        // A concurrent close may have reset `opening`.
        if (opening === mine) opened = parts
      } catch (error) {
        if (opening === mine) opening = undefined
        throw error
      }
    },
    async close(): Promise<void> {
      const last = opening
      opening = undefined
      opened = undefined
      closing.abort()
      // Wait for a start in progress, so that its resources are released too.
      const parts = await last?.catch(() => undefined)
      if (parts === undefined) return
      await Promise.allSettled(running)
      await end(parts)
    },
    /** The parts of the open store, or undefined. */
    get opened(): Parts | undefined {
      return opened
    },
  }
}

export function storeClosed(): JobmillError {
  return new JobmillError('STORE_CLOSED', 'the store is not open', {
    fix: 'Call open() before any other method, and call no method after close()',
  })
}
