/**
 * Sends notifications for jobs enqueued in a user's transaction, after it has committed. A NOTIFY inside that
 * transaction would serialize all commits of the database. This process instead polls the status of the
 * transaction on its own connection, first often, then less often. After a minute it stops, and instances
 * find the jobs by polling.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import type { Notification } from './notify-message.ts'
import type { Connection } from './connection.ts'

export interface CommitWatch {
  /** Jobs for these queues become visible when the transaction commits. */
  readonly add: (xid: string, notifications: readonly Notification[]) => void
  readonly close: () => void
}

interface Pending {
  readonly addedAt: number
  readonly notifications: Notification[]
  looks: number
}

const STATUS = `SELECT v.xid, pg_xact_status(v.xid::xid8) AS status FROM unnest($1::text[]) AS v(xid)`

/** When to poll, in ms after the enqueue. */
const LOOKS_MS = [5, 20, 80, 320, 640, 1_280, 2_560, 5_000, 10_000, 20_000, 40_000, 60_000]
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
    const dueAt = Math.min(...[...pending.values()].map((one) => one.addedAt + (LOOKS_MS[one.looks] ?? 0)))
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
      while (one.looks < LOOKS_MS.length && one.addedAt + (LOOKS_MS[one.looks] ?? 0) <= now) one.looks += 1
      if (one.looks === LOOKS_MS.length) pending.delete(xid)
    }
    isLooking = false
    schedule()
  }

  function end(xid: string, hasCommitted: boolean): void {
    const one = pending.get(xid)
    pending.delete(xid)
    if (hasCommitted && one !== undefined && !isClosed) notify(one.notifications)
  }

  return {
    add(xid, notifications) {
      if (notifications.length === 0 || isClosed) return
      const known = pending.get(xid)
      if (known !== undefined) known.notifications.push(...notifications)
      else if (pending.size < MOST_PENDING)
        pending.set(xid, { addedAt: platform.monotonic(), notifications: [...notifications], looks: 0 })
      schedule()
    },
    close() {
      isClosed = true
      timer?.cancel()
      pending.clear()
    },
  }
}
