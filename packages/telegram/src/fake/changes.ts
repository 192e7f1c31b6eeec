/** Waits for conditions, which are checked again after every change. */

export type Changes = ReturnType<typeof changes>

interface Waiter {
  readonly look: () => void
  readonly fail: (why: string) => void
}

export function changes() {
  const waiters = new Set<Waiter>()

  /** `shown` provides the state for the error message. */
  async function until(holds: () => boolean, timeoutMs: number, shown: () => unknown): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = {
      look: () => {
        try {
          if (holds()) resolve()
        } catch (error) {
          reject(new Error('the awaited condition threw an error', { cause: error }))
        }
      },
      fail: (why) => reject(new Error(`${why}: ${JSON.stringify(shown(), null, 1)}`)),
    }
    const timer = setTimeout(() => waiter.fail(`condition not met within ${timeoutMs} ms`), timeoutMs)
    waiters.add(waiter)
    waiter.look()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      waiters.delete(waiter)
    }
  }

  return {
    notify: (): void => {
      for (const { look } of waiters) look()
    },
    until,
    close: (): void => {
      for (const { fail } of waiters) fail('the fake Telegram was closed before the condition was met')
    },
  }
}
