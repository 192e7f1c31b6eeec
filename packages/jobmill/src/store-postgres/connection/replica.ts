/**
 * Sends reads that tolerate lag to a replica. A read sees at least the state of the primary 10 s ago, and
 * everything that this process wrote or read there. If the replica does not have that, the primary answers.
 *
 * To find out, the store asks the primary for its newest transaction, and then asks the replica until it has
 * that transaction too. This compares no clocks, and also detects a replica that lost its connection to the
 * primary.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { isDataError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { Connection, Query } from './connection.ts'
import { codeOf, isTransient } from './errors.ts'

interface ReplicaOptions {
  readonly primary: Connection
  readonly replica: Connection
  readonly sql: (text: string) => string
  readonly platform: Platform
}

/** A read waits this long for a replica that may not be current, then it uses the primary. */
const WAIT_MS = 100
/** A replica that was current is asked again after this time. */
const ASK_EVERY_MS = 1_000
/** After a failure, the replica is asked again after this time. */
const RETRY_MS = 5_000
const LONGEST_PAUSE_MS = 500

export type Replica = ReturnType<typeof replicaReads>

export function replicaReads({ primary, replica, sql, platform }: ReplicaOptions) {
  const closing = new AbortController()
  let asking: Promise<void> | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  /** The replica has everything that the primary had at this time. */
  let currentAt = Number.NEGATIVE_INFINITY
  let sawAt = Number.NEGATIVE_INFINITY
  let isFailed = false
  let isWarned = false

  function fail(why: string): void {
    isFailed = true
    if (isWarned || closing.signal.aborted) return
    isWarned = true
    process.emitWarning(`the replica of readUrl ${why}. Lists and metrics are read from the primary`, {
      type: 'JobmillWarning',
      code: 'REPLICA_UNUSABLE',
    })
  }

  /** Never rejects. */
  async function ask(): Promise<void> {
    askedAt = platform.monotonic()
    let wanted: Position
    try {
      wanted = await positionOf(primary.query, sql)
    } catch {
      // The next read of the primary reports the error.
      return
    }
    const from = platform.monotonic()
    try {
      for (let pauseMs = 1; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        const position = await positionOf(replica.query, sql)
        const problem = replicaProblem(position, wanted)
        if (problem !== null) return fail(problem)
        if (hasReached(position, wanted)) {
          currentAt = askedAt
          isFailed = isWarned = false
          return
        }
        if (platform.monotonic() - from > DEFAULTS.replicaLagMs)
          return fail(`is more than ${DEFAULTS.replicaLagMs / 1_000} s behind the primary`)
        await sleep(platform, pauseMs, closing.signal)
      }
    } catch (error) {
      fail(unreadable(error))
    }
  }

  /** Asks once for all concurrent reads. */
  function askAgain(): Promise<void> {
    if (asking !== null) return asking
    asking = ask().finally(() => (asking = null))
    return asking
  }

  /**
   * `seenAt`: when this process last read from or wrote to the primary. The replica must include everything
   * up to then.
   */
  function isUsable(seenAt: number): boolean {
    return !isFailed && currentAt > seenAt && platform.monotonic() - currentAt <= DEFAULTS.replicaLagMs
  }

  async function becomesUsable(): Promise<boolean> {
    if (closing.signal.aborted) return false
    // Does not wait for later writes of concurrent calls.
    const seenAt = sawAt
    const sinceAskedMs = platform.monotonic() - askedAt
    if (isFailed) {
      if (sinceAskedMs > RETRY_MS) void askAgain()
      return false
    }
    if (isUsable(seenAt)) {
      if (sinceAskedMs > ASK_EVERY_MS) void askAgain()
      return true
    }
    const waited = sleep(platform, WAIT_MS, closing.signal)
    // The answer to an earlier query may be too old.
    if (asking !== null && askedAt <= seenAt) await Promise.race([asking, waited])
    if (!isUsable(seenAt)) await Promise.race([askAgain(), waited])
    return isUsable(seenAt)
  }

  return {
    /** Calls `verb` with the replica if it is current, else `onPrimary`. */
    async read<T>(verb: (replica: Connection) => Promise<T>, onPrimary: () => Promise<T>): Promise<T> {
      if (!(await becomesUsable())) return onPrimary()
      try {
        return await verb(replica)
      } catch (error) {
        // A conflict with recovery ends one statement. The replica itself is fine.
        if (!isTransient(error) && codeOf(error) !== CANCELLED && !isDataError(error)) fail(unreadable(error))
        return onPrimary()
      }
    },
    /**
     * Call this when this process has written to the primary or read from it: its later reads must see at
     * least that state.
     */
    saw: () => void (sawAt = platform.monotonic()),
    async close(): Promise<void> {
      closing.abort()
      await Promise.all([asking, replica.close()])
    },
    /** Ends the statements in flight. */
    cut: (): void => replica.cut(),
  }
}

const CANCELLED = '57014'

/** How far a server has progressed, as transaction ids. */
export interface Position {
  readonly isStandby: boolean
  /** Identifies the Jobmill tables. */
  readonly secret: string | null
  /** All older transactions have ended. */
  readonly oldest: bigint
  /** The transaction after the newest one that has ended. */
  readonly next: bigint
}

/** Works on a standby too, because it assigns no transaction id. */
const POSITION = `
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_standby,
       (SELECT value FROM jobmill.secret ORDER BY value LIMIT 1) AS secret,
       pg_snapshot_xmin(s.now)::text AS oldest, pg_snapshot_xmax(s.now)::text AS next
  FROM (SELECT pg_current_snapshot() AS now) AS s`

export async function positionOf(query: Query, sql: (text: string) => string): Promise<Position> {
  const [row] = await query(sql(POSITION), [])
  return {
    isStandby: row?.['is_standby'] === true,
    secret: typeof row?.['secret'] === 'string' ? row['secret'] : null,
    oldest: BigInt(String(row?.['oldest'])),
    next: BigInt(String(row?.['next'])),
  }
}

/** Why a server cannot be the replica of this primary; null if it can. */
export function replicaProblem(replica: Position, primary: Position): string | null {
  // A former primary may have other jobs by now, and other transactions.
  if (!replica.isStandby) return 'is not a replica: the server accepts writes'
  if (replica.secret !== primary.secret) return 'has other tables: it follows another server'
  return null
}

export function unreadable(error: unknown): string {
  return `cannot be read: ${(error instanceof Error ? error.message : String(error)).replace(/\.$/, '')}`
}

/** Whether the replica has everything that the primary had. */
export function hasReached(replica: Position, primary: Position): boolean {
  if (replica.next !== primary.next) return replica.next > primary.next
  return replica.oldest >= primary.oldest
}
