/** The message format between notifiers. */
import type { WakeUp } from '../../store/types/wake-up.ts'

/** A queue and how many jobs are available, as in a wake-up. */
export interface Notification {
  readonly queue: string
  readonly jobs: number | null
}

export interface NotifyMessage {
  /** The sender, which also receives its own messages. */
  readonly from: string
  readonly seed: number
  readonly skip: number
  /** Omitted if the queues are unknown. */
  readonly notifications?: readonly Notification[]
}

// NOTIFY accepts at most 8,000 bytes.
const MOST_BYTES = 7_500

/** A message that wakes no instance. */
export function ofNoQueue(from: string): NotifyMessage {
  return { from, seed: 0, skip: 0, notifications: [] }
}

/** Omits a list of queues that is too long. Every instance then claims. */
export function messageText({ from, seed, skip, notifications }: NotifyMessage): string {
  const message = JSON.stringify({ from, seed, skip, notifications })
  return Buffer.byteLength(message) <= MOST_BYTES ? message : JSON.stringify({ from, seed, skip })
}

const isNotification = ({ queue }: Notification): boolean => typeof queue === 'string'

/**
 * Undefined for an unknown format, from another release or any other client. It only means that something was
 * sent.
 */
export function readMessage(text: string): NotifyMessage | undefined {
  try {
    const message = JSON.parse(text) as NotifyMessage
    return typeof message.from === 'string' && (message.notifications ?? []).every(isNotification)
      ? message
      : undefined
  } catch {
    return undefined
  }
}

export function wakeUpsOf({ seed, skip, notifications = [] }: NotifyMessage, passes: boolean): WakeUp[] {
  return notifications.map(({ queue, jobs }) => ({ queue, jobs, seed, skip, passes }))
}

/** Adds up the jobs of each queue. An unknown number makes the sum unknown. */
export function addNotifications(
  sums: Map<string, number | null>,
  notifications: readonly Notification[],
): void {
  for (const { queue, jobs } of notifications) {
    const before = sums.get(queue)
    sums.set(queue, jobs === null || before === null ? null : (before ?? 0) + jobs)
  }
}
