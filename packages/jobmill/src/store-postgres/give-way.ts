/**
 * How a migration gets tables that others are at work on. Whoever comes to a table after somebody who waits for all of it waits behind him, so a migration that simply
 * waited for an open transaction to end (a user's, or a backup) would stop every process until their leases were lost. It waits for a moment, lets everybody
 * pass, and comes back.
 */
import { isJobmillError, JobmillError } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Connection, Query } from './connection.ts'
import { isLockTimeout } from './errors.ts'

/**
 * Long enough for the statements of others to end; and shorter than the second after which a server looks for deadlocks, so that in one it is the migration that
 * gives way, and no work that is broken off.
 */
export const WAIT_BRIEFLY = `SET LOCAL lock_timeout = '200ms'`

/** From the first pause to the longest: others have the tables for most of the time. */
const PAUSE_MS = 200
const LONGEST_PAUSE_MS = 4_000

interface Way {
  readonly connection: Pick<Connection, 'transaction'>
  readonly platform: Platform
  readonly deadlineMs: number
}

/** All statements of `work`, or none, however often it takes. */
export async function givingWay(
  { connection, platform, deadlineMs }: Way,
  work: (query: Query) => Promise<void>,
): Promise<void> {
  const began = platform.monotonic()
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await connection.transaction((query) => work(query).catch(inTheWay))
    } catch (error) {
      if (!isInTheWay(error) || platform.monotonic() - began >= deadlineMs) throw error
    }
    await sleep(platform, (0.5 + platform.random() / 2) * pauseMs)
  }
}

/** Without its cause: a lock that was not free in time is otherwise tried for again at once. */
function inTheWay(error: unknown): never {
  if (!isLockTimeout(error)) throw error
  throw new JobmillError('STORE_BUSY', 'a transaction that stays open keeps the tables from being migrated', {
    fix: 'End it, and start again: pg_stat_activity tells whose it is. What is at work goes on meanwhile',
  })
}

function isInTheWay(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_BUSY' && error.cause === undefined
}
