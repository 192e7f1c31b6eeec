/**
 * Runs several operations in one write transaction. If one fails, all are retried with a savepoint each, so
 * that the failure affects no other operation. A savepoint per operation from the start would copy every
 * touched page, and triples the time of small operations.
 */
import type { Connection } from './connection.ts'
import { commitError, isBusy, storeError } from './errors.ts'
import { namesVersion } from './counter.ts'
import { statementsOf } from './handle.ts'
import { LeaseOutdated } from '../claim/leases.ts'
import { changedInCommit, fileChanged, type OpenFiles } from '../file/same-file.ts'
import { type Notification, type Memory, type Verb, type Worked, workOn } from '../work.ts'

/**
 * The result of an operation. `again`: its transaction was lost through no fault of its own, and nothing was
 * written.
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
  readonly path: string
  readonly files: OpenFiles
}

/** Returns `busy` when another connection holds the write lock: nothing was written. */
export function runBatch(options: BatchOptions, verbs: readonly Verb[]): Batch | 'busy' {
  const { connection, clock, memory } = options
  const change = options.files.change()
  if (change !== null) return allFailed(verbs, fileChanged(options.path, change))
  const began = begin(options)
  if (began !== undefined) return isBusy(began) ? 'busy' : allFailed(verbs, storeError(began))
  let worked: Worked
  try {
    worked = workOn(connection, Math.floor(clock()), memory, verbs)
  } catch (error) {
    if (connection.inTransaction) statementsOf(connection)('ROLLBACK').run()
    if (isBusy(error)) return 'busy'
    // Each cached lease is dropped after its first mismatch, so this recursion ends.
    if (error instanceof LeaseOutdated) return runBatch(options, verbs)
    return verbs.length === 1 ? allFailed(verbs, storeError(error)) : runApart(options, verbs)
  }
  return commit(
    options,
    worked.values.map((value) => ({ is: 'committed', value })),
    [worked],
  )
}

function runApart(options: BatchOptions, verbs: readonly Verb[]): Batch | 'busy' {
  const { connection, clock, memory } = options
  const sql = statementsOf(connection)
  // Here an operation must fail only through its own fault, so drop the cached leases.
  memory.leases.clear()
  const began = begin(options)
  if (began !== undefined) return isBusy(began) ? 'busy' : allFailed(verbs, storeError(began))
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
      results.push({ is: 'failed', error: storeError(error) })
      // A full disk, for example, rolls back the whole transaction, including earlier operations.
      if (!connection.inTransaction) return onlyFailures(verbs, results)
      sql('ROLLBACK TO verb').run()
      sql('RELEASE verb').run()
    }
  }
  return commit(options, results, all)
}

function begin({ connection, memory }: BatchOptions): unknown {
  const sql = statementsOf(connection)
  try {
    sql('BEGIN IMMEDIATE').run()
    memory.forgetUnless(namesVersion(sql))
    return undefined
  } catch (error) {
    if (connection.inTransaction) sql('ROLLBACK').run()
    return error
  }
}

function commit(
  { connection, path, files }: BatchOptions,
  results: readonly Result[],
  all: readonly Worked[],
): Batch | 'busy' {
  const sql = statementsOf(connection)
  try {
    sql('COMMIT').run()
  } catch (error) {
    if (connection.inTransaction) sql('ROLLBACK').run()
    return isBusy(error) ? 'busy' : notCommitted(results, commitError(error))
  }
  // Only what is in the file at this path may be acknowledged, and the file may have been replaced since the
  // transaction began.
  const change = files.change()
  if (change !== null) return notCommitted(results, changedInCommit(path, change))
  // Cached names and leases are valid only after the commit.
  for (const { keep } of all) keep()
  // The latest notification per queue wins.
  const notifications = new Map(
    all.flatMap((worked) => worked.notifications).map((notification) => [notification.queue, notification]),
  )
  return { results, notifications: [...notifications.values()] }
}

function notCommitted(results: readonly Result[], error: unknown): Batch {
  const failed: Result = { is: 'failed', error }
  return { results: results.map((result) => (result.is === 'failed' ? result : failed)), notifications: [] }
}

function allFailed(verbs: readonly Verb[], error: unknown): Batch {
  return { results: verbs.map(() => ({ is: 'failed', error })), notifications: [] }
}

function onlyFailures(verbs: readonly Verb[], results: readonly Result[]): Batch {
  const failures = verbs.map((_, at): Result => {
    const result = results[at]
    return result?.is === 'failed' ? result : { is: 'again' }
  })
  return { results: failures, notifications: [] }
}
