/**
 * A pg pool for Kysely that enforces a deadline on every statement. The driver only stops waiting, while the
 * statement keeps running on the server and blocks the next user of the connection. So this module cancels
 * the statement on the server and closes its connection.
 */
import { connect } from 'node:net'
import { isJobmillError, JobmillError } from 'jobmill'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import type { MissingTables } from './missing-tables.ts'
import type { ErrorOf } from './place.ts'

/** The message of the driver's timeout error, which has no code. */
const TIMED_OUT = 'Query read timeout'
/** A CancelRequest message: length, request code, process id and secret key. */
const CANCEL_BYTES = 16
const CANCEL_CODE = 80_877_102
const CANCEL_MS = 5_000
/** Does nothing about missing tables, because migrations create them. */
const NOT_MISSING: MissingTables = { restore: async () => {}, notice: (error) => error }

export function withDeadline(
  pool: pg.Pool,
  deadlineMs: number,
  errorOf: ErrorOf,
  missing: MissingTables = NOT_MISSING,
): PostgresPool {
  // Kysely identifies a connection by its object, so each client gets one wrapper.
  const guarded = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    async connect() {
      await missing.restore()
      const client = await pool.connect().catch((error: unknown) => {
        throw errorOf(error)
      })
      const known = guarded.get(client) ?? guard(client, deadlineMs, errorOf, missing)
      guarded.set(client, known)
      return known
    },
    end: () => pool.end(),
  }
}

function guard(
  client: pg.PoolClient,
  deadlineMs: number,
  errorOf: ErrorOf,
  missing: MissingTables,
): PostgresPoolClient {
  let lost: unknown = null
  async function query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (lost !== null) return instead(text)
    try {
      return await client.query(text, [...values])
    } catch (error) {
      if (error instanceof Error && error.message === TIMED_OUT) {
        lost = new JobmillError('OUTCOME_UNKNOWN', `the database did not respond within ${deadlineMs} ms`, {
          fix: 'Check whether the write was applied before you retry; look for an open transaction that holds a lock',
          cause: error,
        })
        cancel(client)
        return instead(text)
      }
      const said = errorOf(error, true)
      if (!isJobmillError(said) || said.code !== 'OUTCOME_UNKNOWN') throw missing.notice(error)
      lost = said
      return instead(text)
    }
  }
  /** Reports a rollback as done: the lost connection is closed on release, and the server then rolls back. */
  function instead(text: string): unknown {
    if (text === 'rollback') return { command: 'ROLLBACK', rowCount: 0, rows: [] }
    throw lost
  }
  return {
    // The type also allows cursors, which this package never uses.
    query: query as PostgresPoolClient['query'],
    release: (isBroken = false) => client.release(lost !== null || isBroken),
  }
}

/** Undocumented properties of a connection, which the driver sets. */
type Known = pg.Client & Readonly<Record<'processID' | 'secretKey', number | null>>

/**
 * Sends the cancel request over a separate connection, as the protocol requires. Poolers forward such
 * requests. Delivery is best effort.
 */
function cancel(client: pg.PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Known
  if (processID === null || secretKey === null) return
  const request = Buffer.alloc(CANCEL_BYTES)
  request.writeInt32BE(CANCEL_BYTES, 0)
  request.writeInt32BE(CANCEL_CODE, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.on('error', () => {})
  socket.setTimeout(CANCEL_MS, () => socket.destroy())
  socket.unref()
  socket.end(request)
}
