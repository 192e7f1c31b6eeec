/**
 * Sends statements to the server with a deadline, and translates errors. Relies on no session state: no SET,
 * no session locks, and prepared statements only until one is lost. It therefore works behind a pooler in
 * transaction mode.
 */
import type pg from 'pg'
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { PoolUsage } from '../../store/admin/resources.ts'
import { isNameLost, isPlanOutdated, isTransient, leavesConnectionUsable, toJobmillError } from './errors.ts'
import { pool } from './pool.ts'
import { loadPg } from './driver.ts'
import type { Address } from './server-address.ts'
import { statementNames } from './statement-names.ts'

export type Row = Readonly<Record<string, unknown>>

/** Rows whose columns are the fields of a record. */
export function recordsOf<T>(rows: readonly Row[]): T[] {
  return rows as readonly unknown[] as T[]
}

/** Runs one statement and returns its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>
/** The columns of a row in order, which is cheaper than an object with names. */
type Tuple = readonly unknown[]

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** The name of the prepared statement, so that the server parses and plans it once per connection. */
  readonly name?: string | undefined
}

export interface Connection {
  /** Runs one statement, committed on its own. */
  readonly query: Query
  /** For frequent statements, which the server then plans once per connection. */
  readonly prepared: Query
  /**
   * Like `prepared`, with rows that are cheaper to read. `after` is sent without waiting for the reply, and
   * runs in its own transaction. Its result is ignored.
   */
  readonly tuples: (text: string, values: readonly unknown[], after?: Statement) => Promise<readonly Tuple[]>
  /** Runs all statements of `work` or none. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  /** The number of open and busy connections. */
  readonly usage: () => PoolUsage
  readonly close: () => Promise<void>
  /** Ends the statements in flight, for a database that does not respond. */
  readonly cut: () => void
}

export interface ConnectionOptions {
  readonly url: Address
  readonly connections: number
  readonly deadlineMs: number
  /** Default true. */
  readonly namesStatements?: boolean
  /** How often a statement that the server rolled back is sent again (default 5). */
  readonly retries?: number
  readonly platform: Platform
}

const RETRIES = 5

export function connect(options: ConnectionOptions): Connection {
  const { url, connections, deadlineMs, platform, retries = RETRIES } = options
  const clients = pool({ url, most: connections, waitMs: deadlineMs, platform })
  // The statements assume READ COMMITTED. If the server has another default, each statement runs in a
  // transaction that sets the level. A session setting would leak through a pooler.
  let mustSetIsolation: boolean | undefined
  /** Clients whose transaction could not be rolled back. */
  const stillOpen = new WeakSet<pg.Client>()
  const names = statementNames(options.namesStatements ?? true)

  /**
   * Returns the client to the pool, or ends it if its state is unknown. `busy` resolves when its remaining
   * work is over, with true on success.
   */
  async function withClient<T>(
    work: (client: pg.Client) => Promise<T>,
    busy?: () => Promise<boolean> | undefined,
  ): Promise<T> {
    const taken = clients.take()
    const client = taken instanceof Promise ? await taken.catch(rethrowUnsent) : taken
    try {
      const result = await work(client)
      const stillBusy = busy?.()
      if (stillBusy === undefined) clients.give(client, true)
      else void stillBusy.then((isHealthy) => clients.give(client, isHealthy))
      return result
    } catch (error) {
      clients.give(client, leavesConnectionUsable(error) && !stillOpen.has(client))
      throw toJobmillError(error, { sent: true })
    }
  }

  function inTransaction<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withClient(async (client) => {
      const query = queryOf(client, options)
      await query('BEGIN ISOLATION LEVEL READ COMMITTED', [])
      let result: T
      try {
        result = await work(client)
      } catch (error) {
        if (!(await rollBack(query, error))) stillOpen.add(client)
        throw error
      }
      await query('COMMIT', [])
      return result
    })
  }

  async function readIsolation(): Promise<boolean> {
    const [row] = await withClient((client) =>
      queryOf(client, options)('SHOW default_transaction_isolation', []),
    )
    return (mustSetIsolation = row?.['default_transaction_isolation'] !== 'read committed')
  }

  async function single<R>(
    statement: Statement,
    rowMode?: 'array',
    after?: Statement,
  ): Promise<readonly R[]> {
    if (mustSetIsolation ?? (await readIsolation())) {
      const rows = await inTransaction((client) => send<R>(client, statement, options, rowMode))
      if (after !== undefined) single(after).catch(() => {})
      return rows
    }
    let following: Promise<boolean> | undefined
    return withClient(
      (client) => {
        const answer = send<R>(client, statement, options, rowMode)
        if (after !== undefined)
          following = send(client, after, options).then(() => true, leavesConnectionUsable)
        return answer
      },
      () => following,
    )
  }

  /**
   * A statement whose name is unknown or outdated has not run. Either a pooler does not preserve names, or a
   * newer release changed the schema.
   */
  async function runNamed<R>(
    statement: Statement,
    rowMode?: 'array',
    after?: Statement,
  ): Promise<readonly R[]> {
    const name = names.of(statement.text)
    if (name === undefined) return single<R>(statement, rowMode, after)
    try {
      return await single<R>({ ...statement, name }, rowMode, after)
    } catch (error) {
      if (isPlanOutdated(error)) names.renew()
      else if (!isNameLost(error)) throw error
      else names.giveUp(error instanceof Error ? error.message : String(error))
      // Also sends `after` again: the first one announced jobs that were not written.
      return single<R>(statement, rowMode, after)
    }
  }

  /** Retries what the server rolled back on its own: deadlocks and lock timeouts. */
  async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        const transient = isJobmillError(error) && isTransient(error)
        if (!transient || tries > retries) throw error
        await sleep(platform, platform.random() * 10 * 2 ** tries)
      }
    }
  }

  return {
    query: (text, values) => withRetries(() => single<Row>({ text, values })),
    prepared: (text, values) => withRetries(() => runNamed<Row>({ text, values })),
    tuples: (text, values, after) => withRetries(() => runNamed<Tuple>({ text, values }, 'array', after)),
    transaction: (work) => withRetries(() => inTransaction((client) => work(queryOf(client, options)))),
    usage: () => clients.usage(),
    close: () => clients.end(),
    cut: () => clients.cut(),
  }
}

function rethrowUnsent(error: unknown): never {
  throw toJobmillError(error, { sent: false })
}

function queryOf(client: pg.Client, options: ConnectionOptions): Query {
  return (text, values) => send<Row>(client, { text, values }, options)
}

/**
 * Returns whether the transaction is known to be over. After a lost connection there is nothing to roll back,
 * and the first error is the one to report.
 */
async function rollBack(query: Query, error: unknown): Promise<boolean> {
  const isLoss = error instanceof Error && 'code' in error && !(error instanceof loadPg().DatabaseError)
  if (isLoss && !leavesConnectionUsable(error)) return false
  return query('ROLLBACK', []).then(
    () => true,
    () => false,
  )
}

/**
 * After the deadline, the code that borrowed the client must end it, because the outcome of a statement
 * without a reply is unknown.
 */
function send<R>(
  client: pg.Client,
  { text, values, name }: Statement,
  { platform, deadlineMs }: ConnectionOptions,
  rowMode?: 'array',
): Promise<readonly R[]> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(deadlineMs, () => {
      reject(
        new JobmillError('OUTCOME_UNKNOWN', `the database did not respond within ${deadlineMs} ms`, {
          fix: 'Check whether the write was applied before you retry, or retry with the same job ids',
        }),
      )
    })
    // A callback is cheaper than the driver's promise, which passes the reply through three promises.
    client.query({ text, name, values: [...values], rowMode } as pg.QueryConfig, (error, result) => {
      timer.cancel()
      // The driver passes an error or a result, but declares both as present.
      if ((error as Error | null) !== null && (error as Error | undefined) !== undefined) reject(error)
      else resolve((result as { rows?: R[] }).rows ?? [])
    })
  })
}
