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

export interface Connection {
  /** One statement, committed by itself. */
  readonly query: Query
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
  let explicitIsolation: Promise<boolean> | undefined

  async function borrow(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw inOurWords(error, { sent: false })
    }
  }

  /** Gives the client back, or destroys it when its state is not known. */
  async function withClient<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await borrow()
    let healthy = false
    try {
      const result = await work((text, values) => withDeadline(client, text, values, options))
      healthy = true
      return result
    } catch (error) {
      healthy = wasAnswered(error)
      throw inOurWords(error, { sent: true })
    } finally {
      client.release(!healthy)
    }
  }

  function inTransaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return withClient(async (query) => {
      await query('BEGIN ISOLATION LEVEL READ COMMITTED', [])
      let result: T
      try {
        result = await work(query)
      } catch (error) {
        await rollBack(query, error)
        throw error
      }
      await query('COMMIT', [])
      return result
    })
  }

  // Statements of ours assume READ COMMITTED. Where the server's default is another level, each gets a transaction
  // that says so; a setting on the session would leak through a pooler.
  async function isolationMustBeSaid(): Promise<boolean> {
    explicitIsolation ??= withClient(async (query) => {
      const [row] = await query('SHOW default_transaction_isolation', [])
      return row?.['default_transaction_isolation'] !== 'read committed'
    }).catch((error: unknown) => {
      explicitIsolation = undefined
      throw error
    })
    return explicitIsolation
  }

  return {
    query: (text, values) =>
      again(options.platform, async () =>
        (await isolationMustBeSaid())
          ? inTransaction((query) => query(text, values))
          : withClient((query) => query(text, values)),
      ),
    transaction: (work) => again(options.platform, () => inTransaction(work)),
    close: () => pool.end(),
  }
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
async function withDeadline(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
  { platform, deadlineMs }: ConnectionOptions,
): Promise<readonly Row[]> {
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
    const result = await Promise.race([
      client.query<Record<string, unknown>>({ text, values: [...values], types }),
      deadline,
    ])
    return result.rows
  } finally {
    timer?.cancel()
  }
}
