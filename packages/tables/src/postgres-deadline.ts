/**
 * The pool of PostgreSQL as Kysely takes it, with an end to every statement. The driver only stops waiting when the time is over: the statement would go on at the
 * server, perhaps behind a lock, and whoever gets the connection next would wait behind it. So it is cancelled there, and its connection is ended. One that the server
 * ended is told in the words of the mill, whenever that is noticed.
 */
import { connect } from 'node:net'
import { isJobmillError, JobmillError } from 'jobmill'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import type { ErrorOf } from './place.ts'

/** What the driver says; it has no code for it. */
const TIMED_OUT = 'Query read timeout'
/** A request to cancel: its length, its number, which connection, and its secret. */
const CANCEL_BYTES = 16
const CANCEL_CODE = 80_877_102
const CANCEL_MS = 5_000

export function withDeadline(pool: pg.Pool, deadlineMs: number, errorOf: ErrorOf): PostgresPool {
  // Kysely knows a connection by its object.
  const guarded = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw errorOf(error)
      })
      const known = guarded.get(client) ?? guard(client, deadlineMs, errorOf)
      guarded.set(client, known)
      return known
    },
    end: () => pool.end(),
  }
}

function guard(client: pg.PoolClient, deadlineMs: number, errorOf: ErrorOf): PostgresPoolClient {
  let lost: unknown = null
  async function query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (lost !== null) return instead(text)
    try {
      return await client.query(text, [...values])
    } catch (error) {
      if (error instanceof Error && error.message === TIMED_OUT) {
        lost = unanswered(deadlineMs, error)
        cancel(client)
        return instead(text)
      }
      const said = errorOf(error, true)
      if (!isJobmillError(said) || said.code !== 'OUTCOME_UNKNOWN') throw error
      lost = said
      return instead(text)
    }
  }
  /** What is lost is rolled back by the server when its connection ends. */
  function instead(text: string): unknown {
    if (text === 'rollback') return { command: 'ROLLBACK', rowCount: 0, rows: [] }
    throw lost
  }
  return {
    // Statements alone: nobody here reads by a cursor.
    query: query as PostgresPoolClient['query'],
    release: (isBroken = false) => client.release(lost !== null || isBroken),
  }
}

function unanswered(deadlineMs: number, cause?: Error): JobmillError {
  return new JobmillError('OUTCOME_UNKNOWN', `the database did not answer within ${deadlineMs} ms`, {
    fix: 'Try again; look for a transaction that stays open and holds a lock',
    ...(cause !== undefined && { cause }),
  })
}

interface Known {
  readonly host: string
  readonly port: number
  readonly processID: number | null
  readonly secretKey: number | null
}

/** By a connection of its own, as the protocol wants it: that works through a pooler too. Nothing depends on whether it arrives. */
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
