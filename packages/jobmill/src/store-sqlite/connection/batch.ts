/**
 * Runs several operations in one write transaction. If one fails, all are retried with a savepoint each, so
 * that the failure affects no other operation. A savepoint per operation from the start would copy every
 * touched page, and triple the time of small operations.
 */
import type { Connection } from './connection.ts'
import { commitError, isBusy, storeError } from './errors.ts'
import { namesVersion } from './counter.ts'
import { statementsOf } from './handle.ts'
import { LeaseOutdated } from '../claim/leases.ts'
import type { OpenFiles } from '../file/same-file.ts'
import { type Notification, type Memory, type Verb, type Worked, workOn } from '../work.ts'

/**
 * The result of an operation. `again`: another operation failed the transaction, and nothing was written.
 */
export type Result =
  | { readonly is: 'committed'; readonly value: unknown }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'again' }

export interface Batch {
  /** One per operation. */
  readonly results: readonly Result[]
  /** Notifications to send after the commit, for the queues with new work. */
  readonly notifications: readonly Notification[]
}

export interface BatchOptions {
  readonly connection: Connection
  readonly clock: () => number
  readonly memory: Memory
  readonly files: OpenFiles
}

/** Returns `busy` when another connection holds the write lock: nothing was written. */
export function runBatch(options: BatchOptions, verbs: readonly Verb[]): Batch | 'busy' {
  const { connection, clock, memory } = options
  const refused = begin(options, verbs)
  if (refused !== undefined) return refused
  let worked: Worked
  try {
    worked = workOn(connection, Math.floor(clock()), memory, verbs)
  } catch (error) {
    if (connection.inTransaction) statementsOf(connection)('ROLLBACK').run()
    if (isBusy(error)) return 'busy'
    // Each cached lease is dropped after its first mismatch, so this recursion ends.
    if (error instanceof LeaseOutdated) return runBatch(options, verbs)
    return verbs.length === 1 ? nothingWritten(verbs, failed(error)) : runApart(options, verbs)
  }
  const results = worked.values.map((value): Result => ({ is: 'committed', value }))
  return commit(options, results, [worked])
}

function runApart(options: BatchOptions, verbs: readonly Verb[]): Batch | 'busy' {
  const { connection, clock, memory } = options
  const sql = statementsOf(connection)
  // An operation must now fail only because of its own error, so drop the cached leases.
  memory.leases.clear()
  const refused = begin(options, verbs)
  if (refused !== undefined) return refused
  const results: Result[] = []
  const all: Worked[] = []
  for (const verb of verbs) {
    try {
      sql('SAVEPOINT verb').run()
      const worked = workOn(connection, Math.floor(clock()), memory, [verb])
      sql('RELEASE verb').run()
      all.push(worked)
      results.push({ is: 'committed', value: worked.values[0] })
    } catch (error) {
      results.push(failed(error))
      // A full disk, for example, rolls back the whole transaction, including earlier operations.
      if (!connection.inTransaction) return nothingWritten(verbs, { is: 'again' }, results)
      sql('ROLLBACK TO verb').run()
      sql('RELEASE verb').run()
    }
  }
  return commit(options, results, all)
}

/** Undefined once the transaction has begun. */
function begin(
  { connection, memory, files }: BatchOptions,
  verbs: readonly Verb[],
): Batch | 'busy' | undefined {
  const sql = statementsOf(connection)
  try {
    files.check()
    sql('BEGIN IMMEDIATE').run()
    memory.forgetUnless(namesVersion(sql))
    return undefined
  } catch (error) {
    if (connection.inTransaction) sql('ROLLBACK').run()
    return isBusy(error) ? 'busy' : nothingWritten(verbs, failed(error))
  }
}

function commit(
  { connection, files }: BatchOptions,
  results: readonly Result[],
  all: readonly Worked[],
): Batch | 'busy' {
  const sql = statementsOf(connection)
  try {
    sql('COMMIT').run()
    // Only what is in the file at this path may be acknowledged, and the file may have been replaced since
    // the transaction began.
    files.checkCommitted()
  } catch (error) {
    if (connection.inTransaction) sql('ROLLBACK').run()
    if (isBusy(error)) return 'busy'
    return nothingWritten(results, { is: 'failed', error: commitError(error) }, results)
  }
  // Cached names and leases are valid only after the commit.
  for (const { updateCache } of all) updateCache()
  // The latest notification per queue wins.
  const notifications = new Map(
    all.flatMap((worked) => worked.notifications).map((notification) => [notification.queue, notification]),
  )
  return { results, notifications: [...notifications.values()] }
}

/** Nothing was written. Operations that did not fail themselves get the result `others`. */
function nothingWritten(all: readonly unknown[], others: Result, results: readonly Result[] = []): Batch {
  const failures = all.map((_, at) => {
    const result = results[at]
    return result?.is === 'failed' ? result : others
  })
  return { results: failures, notifications: [] }
}

function failed(error: unknown): Result {
  return { is: 'failed', error: storeError(error) }
}
