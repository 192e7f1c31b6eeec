/**
 * Sends notifications for jobs enqueued in a user's transaction, after it has committed. A NOTIFY inside that
 * transaction would serialize all commits of the database. This process instead polls the status of the
 * transaction on its own connection.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { Platform, Timer } from '../../platform/platform.ts'
import type { Notification } from './notify-message.ts'
import type { Connection } from '../connection/connection.ts'

interface CommitWatchOptions {
  readonly connection: Pick<Connection, 'query'>
  readonly platform: Pick<Platform, 'monotonic' | 'timer'>
  readonly notify: (notifications: readonly Notification[]) => void
}

interface Pending {
  readonly addedAt: number
  readonly notifications: Notification[]
  nextLookAt: number
}

const STATUS = `SELECT v.xid, pg_xact_status(v.xid::xid8) AS status FROM unnest($1::text[]) AS v(xid)`

const FIRST_LOOK_MS = 5
/** If the status of a transaction cannot be read for this long, instances find its jobs by polling. */
const LAST_LOOK_MS = 60_000
/** The interval at which an instance with work polls. */
const LONGEST_PAUSE_MS = DEFAULTS.heartbeatEveryMs
/** The maximum number of watched transactions. Instances find the jobs of others by polling. */
const MOST_PENDING = 10_000

export type CommitWatch = ReturnType<typeof commitWatch>

export function commitWatch({ connection, platform, notify }: CommitWatchOptions) {
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
    let isAnswered = false
    try {
      const rows = await connection.query(STATUS, [asked])
      for (const { xid, status } of rows)
        if (status !== 'in progress') end(String(xid), status === 'committed')
      isAnswered = true
    } catch {
      // The server is down, or the transaction belongs to another server. Polling finds its jobs.
    }
    for (const xid of asked) {
      const one = pending.get(xid)
      if (one === undefined) continue
      const ageMs = now - one.addedAt
      if (!isAnswered && ageMs >= LAST_LOOK_MS) pending.delete(xid)
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

  return {
    /** Jobs for these queues become visible when the transaction commits. */
    add(xid: string, notifications: readonly Notification[]): void {
      if (notifications.length === 0 || isClosed) return
      const known = pending.get(xid)
      const addedAt = platform.monotonic()
      if (known !== undefined) known.notifications.push(...notifications)
      else if (pending.size < MOST_PENDING)
        pending.set(xid, { addedAt, notifications: [...notifications], nextLookAt: addedAt + FIRST_LOOK_MS })
      schedule()
    },
    close(): void {
      isClosed = true
      timer?.cancel()
      // Their transactions may commit right after this process ended. Instances then look more often for a
      // while.
      for (const { notifications } of pending.values()) notify(notifications)
      pending.clear()
    },
  }
}

/**
 * The pause before the next check of a transaction of this age. Up to 2 s, it is as long as the age, but at
 * least 15 ms and at most 100 ms. After that, it is a twentieth of the age, up to LONGEST_PAUSE_MS.
 */
function pauseAfter(ageMs: number): number {
  return Math.min(Math.max(15, ageMs), Math.max(100, ageMs / 20), LONGEST_PAUSE_MS)
}
