/** A pool of free items with a FIFO wait list. A wait ends when its signal fires. */

interface Waiter<T> {
  readonly give: (item: T) => void
  readonly refuse: (error: Error) => void
}

export class FreeList<T> {
  readonly #free = new Set<T>()
  /** Empty whenever an item is free. */
  readonly #waiting = new Set<Waiter<T>>()

  /** Passes the item to the longest waiter. */
  offer(item: T): void {
    const [first] = this.#waiting
    if (first === undefined) this.#free.add(item)
    else first.give(item)
  }

  /** Removes an item that is no longer available. */
  remove(item: T): void {
    this.#free.delete(item)
  }

  /** Rejects all current waiters. */
  refuseAll(error: Error): void {
    for (const waiter of this.#waiting) waiter.refuse(error)
  }

  /** Throws the reason of the signal if it fires first. */
  async take(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const [item] = this.#free
    if (item === undefined) return await this.#wait(signal)
    this.#free.delete(item)
    return item
  }

  #wait(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => waiter.refuse(signal.reason as Error)
      const waiter: Waiter<T> = {
        give(item) {
          leave()
          resolve(item)
        },
        refuse(error) {
          leave()
          reject(error)
        },
      }
      this.#waiting.add(waiter)
      signal.addEventListener('abort', onAbort)
    })
  }
}
