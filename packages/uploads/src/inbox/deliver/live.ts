/**
 * Waits for new files in mailboxes. This process reports its own commits directly. Commits of other processes
 * are found by polling the awaited mailboxes twice a second, in one query, and only while a request is
 * waiting.
 */
import type { Platform } from 'jobmill'
import type { Timer } from 'jobmill/internal'

export interface Live {
  /** Called after the commit. */
  readonly wake: (mailbox: string) => void
  /**
   * Resolves when there is a notice after this number, after the timeout, or when the signal fires. The
   * caller then checks on its own.
   */
  readonly wait: (mailbox: string, after: number, ms: number, signal: AbortSignal) => Promise<void>
  /** Wakes all waiters, and makes later waits return immediately. */
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
  /** The last sequence numbers of these mailboxes. */
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
      // A failed query is retried; waiters have their own timeouts.
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
