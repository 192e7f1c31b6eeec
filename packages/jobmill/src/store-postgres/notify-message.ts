/** What the notifier says to other processes, as text. */
import type { WakeUp } from '../store/wake-up.ts'

/** A queue, and how many jobs there are for the taking; null when that is not known. */
export interface Notification {
  readonly queue: string
  readonly jobs: number | null
}

export interface NotifyMessage {
  /** The notifier that sent it, which hears itself too. */
  readonly from: string
  readonly seed: number
  readonly skip: number
  /** Left out: it could be any queue. */
  readonly notifications?: readonly Notification[]
}

// NOTIFY takes at most 8,000 bytes.
const MOST_BYTES = 7_500

/** Too long a list of queues becomes none: then everybody looks. */
export function messageText({ from, seed, skip, notifications }: NotifyMessage): string {
  const told = JSON.stringify({ from, seed, skip, notifications })
  return Buffer.byteLength(told) <= MOST_BYTES ? told : JSON.stringify({ from, seed, skip })
}

const isNotification = ({ queue }: Notification): boolean => typeof queue === 'string'

/** Undefined for a text that another release sent, or anybody else who may connect, which says no more than that something rang. */
export function readMessage(text: string): NotifyMessage | undefined {
  try {
    const told = JSON.parse(text) as NotifyMessage
    return typeof told.from === 'string' && (told.notifications ?? []).every(isNotification)
      ? told
      : undefined
  } catch {
    return undefined
  }
}

export function wakeUpsOf({ seed, skip, notifications = [] }: NotifyMessage, passes: boolean): WakeUp[] {
  return notifications.map(({ queue, jobs }) => ({ queue, jobs, seed, skip, passes }))
}

/** Numbers of the same queue are added up; one that is not known makes the sum unknown. */
export function addNotifications(
  sums: Map<string, number | null>,
  notifications: readonly Notification[],
): void {
  for (const { queue, jobs } of notifications) {
    const before = sums.get(queue)
    sums.set(queue, jobs === null || before === null ? null : (before ?? 0) + jobs)
  }
}
