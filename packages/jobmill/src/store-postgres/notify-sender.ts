/** Sends rings to other processes, one message at a time and not too often. What is rung meanwhile goes out together in the next. */
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { WakeUp } from '../store/wake-up.ts'
import { addNotifications, type NotifyMessage, messageText, type Notification } from './notify-message.ts'

export interface NotifySender {
  /**
   * What is to be told here, at once: these queues, with all that was rung for them under the turn that the others will hear. So the last
   * that is told here is what is told there, and all put themselves into the same order.
   */
  notify(notifications: readonly Notification[]): NotifyMessage
  /** The same for a ring that the caller sends along with a statement of its own; null when it is not the time for one. */
  along(notifications: readonly Notification[]): NotifyMessage | null
  forward(wakeUp: WakeUp): void
  /** When nothing is left to send. */
  idle(): Promise<void>
}

interface Draft {
  readonly seed: number
  readonly skip: number
  readonly sums: Map<string, number | null>
}

/** More than this that wait to be passed on: the database is slow, and who waits polls sooner than these would arrive. */
const MOST_PASSES = 100
/** Whoever hears a ring looks for all that is there, so another a moment later tells little and costs as much as ten jobs. */
export const NOTIFY_EVERY_MS = 5

/** With `send: null` nothing is sent. */
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

  /** At random, so that it is somebody else's turn each time; 31 bits, so that it is a whole number everywhere. */
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
      // Best effort: whoever waits polls as well.
    }
  }

  async function sendAll(): Promise<void> {
    while (next !== undefined || passes.length > 0) {
      const draft = takeDraft()
      if (draft === undefined) await sleep(platform, Math.max(0, tooSoonFor()))
      else await deliver(draft)
    }
    // In the same breath as the look that found nothing: a ring after it begins anew.
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
      const told = [...new Set(notifications.map(({ queue }) => queue))].map((queue) => ({
        queue,
        jobs: sums.get(queue) ?? null,
      }))
      start()
      return { from: me, seed, skip, notifications: told }
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
