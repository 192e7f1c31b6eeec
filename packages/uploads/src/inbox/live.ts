/**
 * Who waits for something new in a mailbox. News of this process are known at once; those of others by a look at the numbers of the mailboxes that somebody waits
 * for, once a second for all of them together, and none while nobody waits.
 */
import type { Platform, Timer } from 'jobmill'

export interface Live {
  /** After the commit. */
  readonly wake: (mailbox: string) => void
  /** Resolves when there is news after this number, when the time is over, or when the signal fires; whoever waited looks for himself. */
  readonly wait: (mailbox: string, after: number, ms: number, signal: AbortSignal) => Promise<void>
  /** Everybody hears, and nobody waits any more. */
  readonly stop: () => void
  readonly isStopped: () => boolean
}

interface Waiter {
  readonly mailbox: string
  readonly after: number
  readonly wake: () => void
}

const LOOK_MS = 500

export function live(
  platform: Platform,
  /** The numbers of the last notices of these mailboxes. */
  lastOf: (mailboxes: readonly string[]) => Promise<ReadonlyMap<string, number>>,
): Live {
  const waiters = new Set<Waiter>()
  let isStopped = false
  let isLooking = false
  let timer: Timer | null = null

  async function look(): Promise<void> {
    const last = await lastOf([...new Set([...waiters].map(({ mailbox }) => mailbox))])
    for (const waiter of waiters) if ((last.get(waiter.mailbox) ?? Infinity) > waiter.after) waiter.wake()
  }

  function again(): void {
    isLooking = false
    lookSoon()
  }

  function lookSoon(): void {
    if (isLooking || isStopped || waiters.size === 0) return
    isLooking = true
    const now = (): void => {
      // A look that fails is made again; those who wait have an end of their own.
      if (waiters.size === 0) again()
      else look().then(again, again)
    }
    timer = platform.timer(LOOK_MS, now, { unref: true })
  }

  return {
    wake(mailbox) {
      for (const waiter of waiters) if (waiter.mailbox === mailbox) waiter.wake()
    },
    async wait(mailbox, after, ms, signal) {
      if (isStopped || signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { mailbox, after, wake: () => resolve() }
      const end = platform.timer(ms, resolve, { unref: true })
      signal.addEventListener('abort', waiter.wake)
      waiters.add(waiter)
      lookSoon()
      await promise
      end.cancel()
      signal.removeEventListener('abort', waiter.wake)
      waiters.delete(waiter)
    },
    stop() {
      isStopped = true
      timer?.cancel()
      for (const waiter of waiters) waiter.wake()
    },
    isStopped: () => isStopped,
  }
}
