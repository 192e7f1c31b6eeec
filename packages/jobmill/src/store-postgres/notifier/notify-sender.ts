/**
 * Sends notifications to other processes, one message at a time and rate-limited. Notifications that arrive
 * in between are merged into the next message.
 */
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { WakeUp } from '../../store/types/wake-up.ts'
import { addNotifications, type NotifyMessage, messageText, type Notification } from './notify-message.ts'

export interface NotifySender {
  /**
   * Queues a notification and returns the message for this process. It has the same seed and sums as the
   * message that other processes will get, so that all of them compute the same order.
   */
  notify(notifications: readonly Notification[]): NotifyMessage
  /**
   * Like `notify`, for a message that the caller sends together with a statement. Null if it is too soon for
   * one.
   */
  along(notifications: readonly Notification[]): NotifyMessage | null
  forward(wakeUp: WakeUp): void
  /** Resolves when everything is sent. */
  idle(): Promise<void>
}

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

/** Sends notifications. With `send: null` it sends nothing. */
export function notifySender(options: {
  readonly me: string
  readonly platform: Platform
  readonly send: ((text: string) => Promise<unknown>) | null
}): NotifySender {
  const { me, platform, send } = options
  let next: Draft | undefined
  const passes: Draft[] = []
  let sending: Promise<void> | undefined
  let sentAt = Number.NEGATIVE_INFINITY

  /**
   * Random, so that another instance comes first each time. 31 bits, so that every reader gets an exact
   * integer.
   */
  const newDraft = (): Draft => ({
    seed: Math.floor(platform.random() * 2 ** 31),
    skip: 0,
    sums: new Map(),
  })

  const tooSoonFor = (): number => sentAt + NOTIFY_EVERY_MS - platform.monotonic()

  function takeDraft(): Draft | undefined {
    if (next === undefined || tooSoonFor() > 0) return passes.shift()
    const draft = next
    next = undefined
    sentAt = platform.monotonic()
    return draft
  }

  async function deliver({ seed, skip, sums }: Draft): Promise<void> {
    const notifications = [...sums].map(([queue, jobs]) => ({ queue, jobs }))
    try {
      await send?.(messageText({ from: me, seed, skip, notifications }))
    } catch {
      // Best effort: instances also poll.
    }
  }

  async function sendAll(): Promise<void> {
    while (next !== undefined || passes.length > 0) {
      const draft = takeDraft()
      if (draft === undefined) await sleep(platform, Math.max(0, tooSoonFor()))
      else await deliver(draft)
    }
    // No await since the last check, so a later notification starts a new loop.
    sending = undefined
  }

  function start(): void {
    sending ??= sendAll()
  }

  return {
    notify(notifications) {
      next ??= newDraft()
      const { seed, skip, sums } = next
      addNotifications(sums, notifications)
      const merged = [...new Set(notifications.map(({ queue }) => queue))].map((queue) => ({
        queue,
        jobs: sums.get(queue) ?? null,
      }))
      start()
      return { from: me, seed, skip, notifications: merged }
    },
    along(notifications) {
      if (send === null || sending !== undefined || tooSoonFor() > 0) return null
      sentAt = platform.monotonic()
      const { seed, skip, sums } = newDraft()
      addNotifications(sums, notifications)
      return { from: me, seed, skip, notifications: [...sums].map(([queue, jobs]) => ({ queue, jobs })) }
    },
    forward({ queue, jobs, seed, skip }) {
      if (passes.length < MOST_PASSES) passes.push({ seed, skip, sums: new Map([[queue, jobs]]) })
      start()
    },
    idle: async () => sending,
  }
}
