/**
 * Sends notifications for jobs enqueued in a user's transaction, after it has committed. A NOTIFY inside that
 * transaction would serialize all commits of the database. This process instead polls the status of the
 * transaction on its own connection. After a minute it stops, and instances find the jobs by polling.
 */
import type { Platform, Timer } from '../../platform/platform.ts'
import type { Notification } from './notify-message.ts'
import type { Connection } from '../connection/connection.ts'

export interface CommitWatch {
  /** Jobs for these queues become visible when the transaction commits. */
  readonly add: (xid: string, notifications: readonly Notification[]) => void
  readonly close: () => void
}

interface Pending {
  readonly addedAt: number
  readonly notifications: Notification[]
  nextLookAt: number
}

const STATUS = `SELECT v.xid, pg_xact_status(v.xid::xid8) AS status FROM unnest($1::text[]) AS v(xid)`

const FIRST_LOOK_MS = 5
const LAST_LOOK_MS = 60_000
/** Further transactions are left to the instances' polling. */
const MOST_PENDING = 10_000

export function commitWatch(options: {
  readonly connection: Pick<Connection, 'query'>
  readonly platform: Pick<Platform, 'monotonic' | 'timer'>
  readonly notify: (notifications: readonly Notification[]) => void
}): CommitWatch {
  const { connection, platform, notify } = options
  const pending = new Map<string, Pending>()
  let timer: Timer | null = null
  let isLooking = false
  let isClosed = false

  function schedule(): void {
    timer?.cancel()
    timer = null
    if (isClosed || isLooking || pending.size === 0) return
    let dueAt = Infinity
    for (const { nextLookAt } of pending.values()) dueAt = Math.min(dueAt, nextLookAt)
    timer = platform.timer(Math.max(0, dueAt - platform.monotonic()), () => void look(), { unref: true })
  }

  /** One statement for all transactions. A failure counts as "in progress" for all of them. */
  async function look(): Promise<void> {
    isLooking = true
    const now = platform.monotonic()
    const asked = [...pending.keys()]
    try {
      const rows = await connection.query(STATUS, [asked])
      for (const { xid, status } of rows)
        if (status !== 'in progress') end(String(xid), status === 'committed')
    } catch {
      // The server is down, or the transaction belongs to another server. Polling finds its jobs.
    }
    for (const xid of asked) {
      const one = pending.get(xid)
      if (one === undefined) continue
      const ageMs = now - one.addedAt
      if (ageMs >= LAST_LOOK_MS) pending.delete(xid)
      else one.nextLookAt = now + pauseAfter(ageMs)
    }
    isLooking = false
    schedule()
  }

  function end(xid: string, hasCommitted: boolean): void {
    const one = pending.get(xid)
    pending.delete(xid)
    if (hasCommitted && one !== undefined && !isClosed) notify(one.notifications)
  }

  function newPending(notifications: readonly Notification[]): Pending {
    const now = platform.monotonic()
    return { addedAt: now, notifications: [...notifications], nextLookAt: now + FIRST_LOOK_MS }
  }

  return {
    add(xid, notifications) {
      if (notifications.length === 0 || isClosed) return
      const known = pending.get(xid)
      if (known !== undefined) known.notifications.push(...notifications)
      else if (pending.size < MOST_PENDING) pending.set(xid, newPending(notifications))
      schedule()
    },
    close() {
      isClosed = true
      timer?.cancel()
      pending.clear()
    },
  }
}

/**
 * Notices the commit of a short transaction within its own duration, of one up to 2 s within 100 ms, and of a
 * longer one within a twentieth of its duration.
 */
function pauseAfter(ageMs: number): number {
  return Math.min(Math.max(15, ageMs), Math.max(100, ageMs / 20))
}
