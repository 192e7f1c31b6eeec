/** Waits for conditions, which are checked again after every change. */

export interface Changes {
  readonly notify: () => void
  /** `shown` provides the state for the error message. */
  readonly until: (holds: () => boolean, timeoutMs: number, shown: () => unknown) => Promise<void>
  readonly close: () => void
}

interface Waiter {
  readonly look: () => void
  readonly fail: (why: string) => void
}

export function changes(): Changes {
  const waiters = new Set<Waiter>()

  function until(holds: () => boolean, timeoutMs: number, shown: () => unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        waiters.delete(waiter)
      }
      const waiter: Waiter = {
        look: () => {
          try {
            if (!holds()) return
            end()
            resolve()
          } catch (error) {
            end()
            reject(new Error('the awaited condition threw an error', { cause: error }))
          }
        },
        fail: (why) => {
          end()
          reject(new Error(`${why}: ${JSON.stringify(shown(), null, 1)}`))
        },
      }
      const timer = setTimeout(() => waiter.fail(`condition not met within ${timeoutMs} ms`), timeoutMs)
      waiters.add(waiter)
      waiter.look()
    })
  }

  return {
    notify: () => {
      for (const { look } of waiters) look()
    },
    until,
    close: () => {
      for (const { fail } of waiters) fail('the fake Telegram was closed before the condition was met')
    },
  }
}
