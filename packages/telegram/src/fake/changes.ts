/** Who waits for something to become true is asked again whenever something happened. */

export interface Changes {
  readonly tell: () => void
  /** `shown` says in the error what there was instead. */
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
            reject(new Error('what was waited for threw', { cause: error }))
          }
        },
        fail: (why) => {
          end()
          reject(new Error(`${why}: ${JSON.stringify(shown(), null, 1)}`))
        },
      }
      const timer = setTimeout(() => waiter.fail(`did not come true within ${timeoutMs} ms`), timeoutMs)
      waiters.add(waiter)
      waiter.look()
    })
  }

  return {
    tell: () => {
      for (const { look } of waiters) look()
    },
    until,
    close: () => {
      for (const { fail } of waiters) fail('the fake Telegram was closed before it came true')
    },
  }
}
