/**
 * The only place that talks to `pg`: a small pool, a deadline for every statement, and errors in our words.
 * No session state is relied on (no SET, no named statements, no session locks), so a pooler in transaction
 * mode may stand in between.
 */
import pg from 'pg'
import { isJobmillError, JobmillError } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { inOurWords, isTransient } from './errors.ts'

export type Row = Readonly<Record<string, unknown>>
/** Runs one statement and gives its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>
/** The columns of a row in their order, which costs less than an object with names. */
type Tuple = readonly unknown[]

export interface Connection {
  /** One statement, committed by itself. */
  readonly query: Query
  /** The same for answers of many rows. */
  readonly tuples: (text: string, values: readonly unknown[]) => Promise<readonly Tuple[]>
  /** All statements of `work`, or none. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly connections: number
  readonly deadlineMs: number
  readonly platform: Platform
}

const RETRIES = 5

// int8 and numeric as numbers (all of ours stay below 2^53), json as the text it is.
const asNumber = (text: string): number => Number(text)
const asText = (text: string): string => text
const PARSERS = new Map<number, (text: string) => unknown>([
  [20, asNumber],
  [1700, asNumber],
  [114, asText],
])
const types = {
  getTypeParser(oid: number, format?: string): unknown {
    return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text')
  },
}

export function connect(options: ConnectionOptions): Connection {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connections,
    connectionTimeoutMillis: options.deadlineMs,
    idleTimeoutMillis: 30_000,
    application_name: 'jobmill',
  })
  // Without listeners a connection that the server drops would end the process: an idle one through the pool, and one of ours
  // through the client, from its first moment on, because the drop can arrive in the same packet as the greeting.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  // Statements of ours assume READ COMMITTED. Where the server's default is another level, each gets a transaction
  // that says so; a setting on the session would leak through a pooler.
  let mustSayIsolation: boolean | undefined

  async function borrow(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw inOurWords(error, { sent: false })
    }
  }

  /** Gives the client back, or destroys it when its state is not known. */
  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await borrow()
    let healthy = false
    try {
      const result = await work(client)
      healthy = true
      return result
    } catch (error) {
      healthy = wasAnswered(error)
      throw inOurWords(error, { sent: true })
    } finally {
      client.release(!healthy)
    }
  }

  function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return withClient(async (client) => {
      const query = queryOf(client, options)
      await query('BEGIN ISOLATION LEVEL READ COMMITTED', [])
      let result: T
      try {
        result = await work(client)
      } catch (error) {
        await rollBack(query, error)
        throw error
      }
      await query('COMMIT', [])
      return result
    })
  }

  async function single<R>(
    text: string,
    values: readonly unknown[],
    rowMode?: 'array',
  ): Promise<readonly R[]> {
    mustSayIsolation ??= await withClient(async (client) => {
      const [row] = await queryOf(client, options)('SHOW default_transaction_isolation', [])
      return row?.['default_transaction_isolation'] !== 'read committed'
    })
    const work = (client: pg.PoolClient): Promise<readonly R[]> =>
      withDeadline(client, { text, values: [...values], types, rowMode }, options)
    return mustSayIsolation ? inTransaction(work) : withClient(work)
  }

  const { platform } = options
  return {
    query: (text, values) => again(platform, () => single<Row>(text, values)),
    tuples: (text, values) => again(platform, () => single<Tuple>(text, values, 'array')),
    transaction: (work) => again(platform, () => inTransaction((client) => work(queryOf(client, options)))),
    close: () => pool.end(),
  }
}

function queryOf(client: pg.PoolClient, options: ConnectionOptions): Query {
  return (text, values) => withDeadline<Row>(client, { text, values: [...values], types }, options)
}

/** A server-side error leaves the connection usable, and so does a refusal of ours between two statements; one without an answer does not. */
function wasAnswered(error: unknown): boolean {
  if (isJobmillError(error)) return error.code !== 'OUTCOME_UNKNOWN'
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}

async function rollBack(query: Query, error: unknown): Promise<void> {
  // After a lost connection there is nothing to roll back, and the first error is the one to tell.
  const isLoss = error instanceof Error && 'code' in error && !(error instanceof pg.DatabaseError)
  if (wasAnswered(error) || !isLoss) await query('ROLLBACK', []).catch(() => {})
}

/** Sends again what the server rolled back by itself: deadlocks and lock time-outs. */
async function again<T>(platform: Platform, send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send()
    } catch (error) {
      const transient = error instanceof JobmillError && isTransient(error.cause)
      if (!transient || tries > RETRIES) throw error
      await sleep(platform, platform.random() * 10 * 2 ** tries)
    }
  }
}

/** When the deadline passes the client is destroyed by its borrower: a statement without an answer has no known outcome. */
async function withDeadline<R>(
  client: pg.PoolClient,
  statement: { text: string; values: unknown[]; types: typeof types; rowMode?: 'array' | undefined },
  { platform, deadlineMs }: ConnectionOptions,
): Promise<readonly R[]> {
  let timer: { cancel(): void } | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = platform.timer(deadlineMs, () => {
      reject(
        new JobmillError('OUTCOME_UNKNOWN', `the database did not answer within ${deadlineMs} ms`, {
          fix: 'Send the same call again: ids and tokens make that safe',
        }),
      )
    })
  })
  try {
    const result = await Promise.race([client.query(statement as pg.QueryConfig), deadline])
    return result.rows as R[]
  } finally {
    timer?.cancel()
  }
}
