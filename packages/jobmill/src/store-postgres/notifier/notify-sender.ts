/**
 * Sends notifications to other processes, one message at a time and rate-limited. Notifications that arrive
 * in between are merged into the next message.
 */
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { WakeUp } from '../../store/types/wake-up.ts'
import { addNotifications, type NotifyMessage, messageText, type Notification } from './notify-message.ts'

interface Draft {
  readonly seed: number
  readonly skip: number
  readonly sums: Map<string, number | null>
}

/** Above this number the database is slow, and polling is faster than forwarding. */
const MOST_PASSES = 100
/**
 * A receiver claims everything that is ready. Another message shortly after adds little and costs as much as
 * ten jobs.
 */
export const NOTIFY_EVERY_MS = 5

interface SenderOptions {
  readonly me: string
  readonly platform: Platform
  readonly send: (text: string) => Promise<unknown>
  /** The shortest time between two messages of new jobs. */
  readonly everyMs?: number
}

export function notifySender({ me, platform, send, everyMs = NOTIFY_EVERY_MS }: SenderOptions) {
  let next: Draft | undefined
  const passes: Draft[] = []
  let sending: Promise<void> | undefined
  let sentAt = Number.NEGATIVE_INFINITY
  const closing = new AbortController()

  /**
   * Random, so that another instance comes first each time. 31 bits, so that every reader gets an exact
   * integer.
   */
  const newDraft = (): Draft => ({
    seed: Math.floor(platform.random() * 2 ** 31),
    skip: 0,
    sums: new Map(),
  })

  const messageOf = ({ seed, skip, sums }: Draft, queues: Iterable<string> = sums.keys()): NotifyMessage => ({
    from: me,
    seed,
    skip,
    notifications: Array.from(queues, (queue) => ({ queue, jobs: sums.get(queue) ?? null })),
  })

  const tooSoonFor = (): number => (closing.signal.aborted ? 0 : sentAt + everyMs - platform.monotonic())

  function takeDraft(): Draft | undefined {
    if (next === undefined || tooSoonFor() > 0) return passes.shift()
    const draft = next
    next = undefined
    sentAt = platform.monotonic()
    return draft
  }

  async function sendAll(): Promise<void> {
    while (next !== undefined || passes.length > 0) {
      const draft = takeDraft()
      if (draft === undefined) await sleep(platform, Math.max(0, tooSoonFor()), closing.signal)
      // Best effort: instances also poll.
      else await send(messageText(messageOf(draft))).catch(() => {})
    }
    // No await since the last check, so a later notification starts a new loop.
    sending = undefined
  }

  function start(): void {
    sending ??= sendAll()
  }

  return {
    /**
     * Queues a notification and returns the message for this process. It has the same seed and sums as the
     * message that other processes will get, so that all of them compute the same order.
     */
    notify(notifications: readonly Notification[]): NotifyMessage {
      next ??= newDraft()
      const message = next
      addNotifications(message.sums, notifications)
      start()
      return messageOf(message, new Set(notifications.map(({ queue }) => queue)))
    },
    /**
     * Like `notify`, for a message that the caller sends together with a statement. Null if the
     * last message was too recent.
     */
    along(notifications: readonly Notification[]): NotifyMessage | null {
      if (sending !== undefined || tooSoonFor() > 0) return null
      sentAt = platform.monotonic()
      const draft = newDraft()
      addNotifications(draft.sums, notifications)
      return messageOf(draft)
    },
    forward({ queue, jobs, seed, skip }: WakeUp): void {
      if (passes.length < MOST_PASSES) passes.push({ seed, skip, sums: new Map([[queue, jobs]]) })
      start()
    },
    /** Sends the rest at once. */
    async close(): Promise<void> {
      closing.abort()
      await sending
    },
  }
}
