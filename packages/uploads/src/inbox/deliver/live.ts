/**
 * Waits for new files in mailboxes. This process reports its own commits directly. Commits of other processes
 * are found by polling the awaited mailboxes twice a second, in one query, and only while a request is
 * waiting.
 */
import type { Platform } from 'jobmill'
import type { Timer } from 'jobmill/internal'

export type Live = ReturnType<typeof live>

const LOOK_MS = 500

export function live(
  platform: Platform,
  /** The last sequence numbers of these mailboxes. */
  lastOf: (mailboxes: readonly string[]) => Promise<ReadonlyMap<string, number>>,
) {
  const waiters = new Set<{ mailbox: string; after: number; wake: () => void }>()
  let isStopped = false
  /** Not null until the next look has ended. */
  let timer: Timer | null = null

  async function look(): Promise<void> {
    const last = await lastOf([...new Set([...waiters].map(({ mailbox }) => mailbox))])
    for (const waiter of waiters) if ((last.get(waiter.mailbox) ?? Infinity) > waiter.after) waiter.wake()
  }

  function lookSoon(): void {
    if (timer !== null || isStopped || waiters.size === 0) return
    const again = (): void => {
      timer = null
      lookSoon()
    }
    // A failed query is retried; waiters have their own timeouts.
    timer = platform.timer(LOOK_MS, () => void look().then(again, again), { unref: true })
  }

  return {
    /** Called after the commit. */
    wake(mailbox: string): void {
      for (const waiter of waiters) if (waiter.mailbox === mailbox) waiter.wake()
    },
    /**
     * Resolves when there is a notice after this number, after the timeout, or when the signal fires. The
     * caller then checks on its own.
     */
    async wait(mailbox: string, after: number, ms: number, signal: AbortSignal): Promise<void> {
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
    /** Wakes all waiters, and makes later waits return immediately. */
    stop(): void {
      isStopped = true
      timer?.cancel()
      for (const waiter of waiters) waiter.wake()
    },
    isStopped: (): boolean => isStopped,
  }
}
