/**
 * Locks tables for a migration without blocking running processes. A waiting exclusive lock blocks every
 * later statement on the table. A migration that waited for an open user transaction or a backup would stop
 * all processes until their leases expired. It therefore waits briefly, lets the queued statements run, and
 * tries again.
 */
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { Connection, Query } from '../connection/connection.ts'
import { isLockTimeout } from '../connection/errors.ts'

/**
 * Long enough for concurrent statements to end. Shorter than the server's deadlock_timeout of 1 s, so that in
 * a deadlock the migration aborts instead of a running statement.
 */
export const WAIT_BRIEFLY = `SET LOCAL lock_timeout = '200ms'`

/**
 * The pause grows from the first value to the second, so that other statements have the tables most of the
 * time.
 */
const PAUSE_MS = 200
const LONGEST_PAUSE_MS = 4_000

interface Way {
  readonly connection: Pick<Connection, 'transaction'>
  readonly platform: Platform
  readonly deadlineMs: number
}

/** Runs `work` in one transaction and retries it until it gets its locks or the deadline passes. */
export async function migrateGivingWay(
  { connection, platform, deadlineMs }: Way,
  work: (query: Query) => Promise<void>,
): Promise<void> {
  const began = platform.monotonic()
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await connection.transaction((query) => work(query).catch(rethrowLockTimeout))
    } catch (error) {
      if (!isBlocked(error) || platform.monotonic() - began >= deadlineMs) throw error
    }
    await sleep(platform, (0.5 + platform.random() / 2) * pauseMs)
  }
}

/** Omits the cause, because the connection would retry a lock timeout immediately. */
function rethrowLockTimeout(error: unknown): never {
  if (!isLockTimeout(error)) throw error
  throw new JobmillError('STORE_BUSY', 'an open transaction blocks the migration of the tables', {
    fix: 'End that transaction (see pg_stat_activity), then start this process again or run jobmill db migrate. Running processes continue to work',
  })
}

function isBlocked(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_BUSY' && error.cause === undefined
}
