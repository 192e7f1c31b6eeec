/** Opening and closing a store, however the calls overlap: twice, before open, during open. */
import { JobmillError } from '../job/errors.ts'

export interface Lifecycle<Parts> {
  open(): Promise<void>
  close(): Promise<void>
  /** Runs one verb; closing waits until it has ended. STORE_CLOSED when the store is not open. */
  run<T>(verb: (parts: Parts) => Promise<T>): Promise<T>
  /** What is there while the store is open; throws STORE_CLOSED when it is not. */
  use(): Parts
  /** The same, or nothing. */
  readonly opened: Parts | undefined
}

export function createLifecycle<Parts>(
  start: () => Promise<Parts>,
  end: (parts: Parts) => void | Promise<void>,
): Lifecycle<Parts> {
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
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
      opening ??= start()
      const mine = opening
      try {
        const parts = await mine
        // Unless it was closed meanwhile.
        if (opening === mine) opened = parts
      } catch (error) {
        if (opening === mine) opening = undefined
        throw error
      }
    },
    async close() {
      const closing = opening
      opening = undefined
      opened = undefined
      // A start that is still under way is let to end first, so that nothing of it stays behind.
      const parts = await closing?.catch(() => undefined)
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
    fix: 'Call open() first, and nothing after close()',
  })
}
