/**
 * Wake-ups. In this process a commit rings at once. Other processes are heard by asking the driver, every few
 * milliseconds and only while somebody waits, whether the file was changed by another connection; if it was, the
 * `rung` numbers tell which queues got something to do. That number is the turn of the ring: all processes read the same.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { wakeAll, type WakeUp } from '../store/wake-up.ts'
import type { Notifier } from '../store/store.ts'
import { waiters } from '../store/waiters.ts'
import type { Connection } from './connection.ts'
import { prepared } from './handle.ts'
import type { Notification, Look } from './work.ts'

/**
 * A probe costs a few microseconds, but to wake up for it costs the process far more: 5 ms for ever came to 2 % of a
 * core on a small machine. So it is often while other processes write, and rare once they have been quiet: after one part in
 * PROBES of the time since the last change.
 */
const PROBES = 100
const PROBE_BUSY_MS = 2
const PROBE_QUIET_MS = 25

const VERSION = `PRAGMA data_version`

// At most a row per queue that is asked for, by its unique name and the primary keys of the others.
const NOTIFICATIONS = `
  SELECT q.name AS queue, c.n, c.wake_ups AS wakeUps, c.arrived,
    EXISTS (SELECT 1 FROM jobmill_order_due AS line WHERE line.queue_id = q.id) AS lines
  FROM json_each(?) AS asked CROSS JOIN jobmill_queue AS q ON q.name = asked.value
    CROSS JOIN jobmill_count AS c ON c.queue_id = q.id AND c.state = 1`

/** How the bells of these queues stand, in the snapshot that a claim sees. */
export function notificationsOf({ sql }: Pick<Look, 'sql'>, queues: Iterable<string>): Notification[] {
  return sql(NOTIFICATIONS).all(JSON.stringify([...queues])) as Notification[]
}

export interface SqliteNotifier extends Omit<Notifier, 'standBy' | 'receive'> {
  /** A commit of this process rang these bells. */
  readonly tell: (notifications: readonly Notification[]) => void
  /** A claim has taken all it could at this point: no need to wake anybody for what came before. */
  readonly hear: (notifications: readonly Notification[]) => void
  /** Ends every wait. */
  close(): void
}

export function createNotifier(connection: Connection, platform: Platform): SqliteNotifier {
  const sql = prepared(connection)
  const heard = new Map<string, Pick<Notification, 'wakeUps' | 'arrived'>>()
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

  /** Remembers how far each bell got, and returns what rang since the last time. */
  function hear(notifications: readonly Notification[], isOwn = false): WakeUp[] {
    return notifications.flatMap((notification) => {
      const before = heard.get(notification.queue) ?? { wakeUps: 0, arrived: 0 }
      if (notification.wakeUps <= before.wakeUps) return []
      heard.set(notification.queue, notification)
      return wakeUpOf(notification, notification.arrived - before.arrived, isOwn)
    })
  }

  function awaited(): Set<string> {
    return new Set([...waited].flatMap((queues) => [...queues]))
  }

  /** Bells that nobody waits for now are left for whoever waits next. */
  function tell(notifications: readonly Notification[], isOwn: boolean): void {
    const queues = awaited()
    const waitedFor = notifications.filter(({ queue }) => queues.has(queue))
    local.wake(hear(waitedFor, isOwn))
  }

  function notifications(queues: ReadonlySet<string>): Notification[] {
    try {
      return notificationsOf({ sql }, queues)
    } catch {
      // Wake-ups only shorten a wait; whatever is wrong, the next verb will say.
      return []
    }
  }

  function look(): void {
    probe = undefined
    try {
      const { data_version: now } = sql(VERSION).get() as { data_version: number }
      if (now !== version) {
        version = now
        changedAt = platform.monotonic()
        tell(notifications(awaited()), false)
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
    tell: (notifications) => tell(notifications, true),
    hear: (notifications) => void hear(notifications),
    notify: (queues) => local.wake(queues.map(wakeAll)),
    // All who wait look by themselves: those who do not come first in the order, a little later.
    forward() {},
    async wait(options) {
      const queues = new Set(options.queues)
      // What was rung while nobody waited counts too: a job may have come between an empty claim and this wait.
      const missed = hear(notifications(queues))
      if (missed.length > 0) return missed
      waited.add(queues)
      try {
        return await local.wait(options)
      } finally {
        waited.delete(queues)
      }
    },
    close: () => local.end(),
  }
}

/**
 * `fresh` jobs became ready since the last time; of those, what others have taken meanwhile is gone. A ring for something else, a
 * permit that came back or a line that moved on, is for everybody; elsewhere only when there is something to be had.
 */
function wakeUpOf({ queue, n, wakeUps, lines }: Notification, fresh: number, isOwn: boolean): WakeUp[] {
  const jobs = Math.min(fresh, n)
  const isForAll = n > 0 || lines === 1 || (isOwn && fresh === 0)
  if (jobs === 0 && !isForAll) return []
  return [{ queue, jobs: jobs === 0 ? null : jobs, seed: wakeUps, skip: 0, passes: false }]
}
