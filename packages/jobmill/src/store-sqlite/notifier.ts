/**
 * Wake-ups. A commit wakes waiters of this process at once. Commits of other processes are detected by
 * polling `data_version` every few milliseconds while there are waiters. If it changed, the `wake_ups`
 * counters show which queues got work; all processes read the same counters.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { wakeAll, type WakeUp } from '../store/types/wake-up.ts'
import type { NotifierPart } from '../store/parts.ts'
import { waiters } from '../store/waiters.ts'
import type { Connection } from './connection/connection.ts'
import { pragma, statementsOf } from './connection/handle.ts'
import type { Notification, Look } from './work.ts'

/**
 * A probe takes a few microseconds, but waking the process costs far more: probing every 5 ms used 2% of a
 * core on a small machine. So the interval is a fraction (1 / PROBES) of the time since the last change,
 * within bounds.
 */
const PROBES = 100
const PROBE_BUSY_MS = 2
const PROBE_QUIET_MS = 25

// At most one row per requested queue, by its unique name and the primary keys of the others.
const NOTIFICATIONS = `
  SELECT q.name AS queue, c.n, c.wake_ups AS wakeUps, c.arrived,
    EXISTS (SELECT 1 FROM jobmill_order_due AS line WHERE line.queue_id = q.id) AS lines
  FROM json_each(?) AS asked CROSS JOIN jobmill_queue AS q ON q.name = asked.value
    CROSS JOIN jobmill_count AS c ON c.queue_id = q.id AND c.state = 1`

/** The notifications of these queues, in the snapshot of a claim. */
export function notificationsOf({ sql }: Pick<Look, 'sql'>, queues: Iterable<string>): Notification[] {
  return sql(NOTIFICATIONS).all(JSON.stringify([...queues])) as Notification[]
}

export function createNotifier(connection: Connection, platform: Platform) {
  const sql = statementsOf(connection)
  const seen = new Map<string, Pick<Notification, 'wakeUps' | 'arrived'>>()
  const waited = new Set<ReadonlySet<string>>()
  let version: number | undefined
  let changedAt = platform.monotonic()
  let probe: Timer | undefined
  const local = waiters(platform, (waiting) => {
    if (waiting === 0) {
      probe?.cancel()
      probe = undefined
    } else if (probe === undefined) lookLater()
  })

  /** Records the latest counters, and returns what is new since the last time. */
  function unseen(notifications: readonly Notification[], isOwn = false): WakeUp[] {
    return notifications.flatMap((notification) => {
      const before = seen.get(notification.queue) ?? { wakeUps: 0, arrived: 0 }
      if (notification.wakeUps <= before.wakeUps) return []
      seen.set(notification.queue, notification)
      return wakeUpOf(notification, notification.arrived - before.arrived, isOwn)
    })
  }

  function awaited(): Set<string> {
    return new Set([...waited].flatMap((queues) => [...queues]))
  }

  /** Notifications for queues without a waiter are kept for the next waiter. */
  function publish(notifications: readonly Notification[], isOwn: boolean): void {
    const queues = awaited()
    const waitedFor = notifications.filter(({ queue }) => queues.has(queue))
    local.wake(unseen(waitedFor, isOwn))
  }

  function notifications(queues: ReadonlySet<string>): Notification[] {
    try {
      return notificationsOf({ sql }, queues)
    } catch {
      // Wake-ups only shorten a wait; the next operation reports the error.
      return []
    }
  }

  function look(): void {
    probe = undefined
    try {
      const now = pragma<number>(connection, 'data_version')
      if (now !== version) {
        version = now
        changedAt = platform.monotonic()
        publish(notifications(awaited()), false)
      }
    } catch {
      // As above.
    }
    if (local.size > 0) lookLater()
  }

  function lookLater(): void {
    const sinceMs = platform.monotonic() - changedAt
    const inMs = Math.min(PROBE_QUIET_MS, Math.max(PROBE_BUSY_MS, sinceMs / PROBES))
    probe = platform.timer(inMs, look, { unref: true })
  }

  return {
    /** Publishes the notifications of a commit of this process. */
    publish: (notifications: readonly Notification[]) => publish(notifications, true),
    /** After a claim that took everything available: earlier notifications need not wake a waiter. */
    markSeen: (notifications: readonly Notification[]) => void unseen(notifications),
    notify: (queues: readonly string[]) => local.wake(queues.map(wakeAll)),
    async wait(options: Parameters<NotifierPart['wait']>[0]): Promise<readonly WakeUp[]> {
      const queues = new Set(options.queues)
      // Includes notifications from before the wait, because a job may have arrived between an empty claim
      // and this wait.
      const missed = unseen(notifications(queues))
      if (missed.length > 0) return missed
      waited.add(queues)
      try {
        return await local.wait(options)
      } finally {
        waited.delete(queues)
      }
    },
    /** Ends every wait. */
    close: () => local.end(),
  }
}

/**
 * `fresh` jobs became ready since the last time, minus those already claimed. A wake-up for another reason,
 * such as a released permit or a free order lock, is for all waiters; in other processes only if something is
 * available.
 */
function wakeUpOf({ queue, n, wakeUps, lines }: Notification, fresh: number, isOwn: boolean): WakeUp[] {
  const jobs = Math.min(fresh, n)
  const isForAll = n > 0 || lines === 1 || (isOwn && fresh === 0)
  if (jobs === 0 && !isForAll) return []
  return [{ queue, jobs: jobs === 0 ? null : jobs, seed: wakeUps, skip: 0, passes: false }]
}
