/** Opens and closes a store, whatever the order of the calls: twice, close before open, close during open. */
import { JobmillError } from '../job/errors.ts'

export interface Lifecycle<Parts> {
  open(): Promise<void>
  close(): Promise<void>
  /** Runs one verb. `close` waits until it has ended. Fails with STORE_CLOSED if the store is not open. */
  run<T>(verb: (parts: Parts) => Promise<T>): Promise<T>
  /** The parts of the open store. Throws STORE_CLOSED if it is not open. */
  use(): Parts
  /** The parts of the open store, or undefined. */
  readonly opened: Parts | undefined
}

/** `start` may fail once `closing` fires, instead of waiting for the database any longer. */
export function createLifecycle<Parts>(
  start: (closing: AbortSignal) => Promise<Parts>,
  end: (parts: Parts) => void | Promise<void>,
): Lifecycle<Parts> {
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
  let closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const use = (): Parts => {
    if (opened === undefined) throw storeClosed()
    return opened
  }
  return {
    use,
    async run(verb) {
      const work = verb(use())
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },
    async open() {
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
    async close() {
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
    get opened() {
      return opened
    },
  }
}

export function storeClosed(): JobmillError {
  return new JobmillError('STORE_CLOSED', 'the store is not open', {
    fix: 'Call open() before any other method, and call no method after close()',
  })
}
