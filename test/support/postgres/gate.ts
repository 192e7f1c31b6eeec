/**
 * Holds statements open after they have written everything and before their commit: a trigger lets them wait
 * at a gate that the test has closed.
 */
import type pg from 'pg'
import { expect, onTestFinished } from 'vitest'

const KEY = 0x6a_6f_62
const SETTING = 'gate.waits'

/** The sessions of this URL wait at the gates of their schema. All others pass. */
export function urlWithGates(url: string): string {
  const address = new URL(url)
  address.searchParams.set('options', `-c${SETTING}=on`)
  return address.href
}

/** Creates the gate of a schema, at the end of statements such as `DELETE ON ready`. */
export async function createGate(client: pg.Client, schema: string, statements: string): Promise<void> {
  await client.query(`
    CREATE FUNCTION ${schema}.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${lockOf(schema)}); RETURN NULL; END $$;
    CREATE TRIGGER gate AFTER ${statements.replace(' ON ', ` ON ${schema}.`)}
      WHEN (current_setting('${SETTING}', true) = 'on') EXECUTE FUNCTION ${schema}.wait_at_gate()`)
}

export interface ClosedGate {
  readonly open: () => Promise<void>
  /** Cancels the statements that wait at the gate, and resolves when the server has rolled them back. */
  readonly cancel: () => Promise<void>
}

/** Closes the gate until the test opens it or ends. The client must not close two gates at a time. */
export async function closeGate(client: pg.Client, schema: string): Promise<ClosedGate> {
  const open = async (): Promise<void> => {
    await client.query('SELECT pg_advisory_unlock_all()')
  }
  await client.query(`SELECT pg_advisory_lock(${lockOf(schema)})`)
  onTestFinished(open)
  return {
    open,
    async cancel() {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid, pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE $1`,
        [`%${schema}%`],
      )
      // The server reports the error before it rolls back, so the locks outlast the call for a moment.
      const busy = async (): Promise<number | null> => {
        const pids = rows.map(({ pid }) => pid)
        const sql = `SELECT FROM pg_stat_activity WHERE pid = ANY ($1) AND state <> 'idle'`
        return (await client.query(sql, [pids])).rowCount
      }
      await expect.poll(busy, { interval: 5 }).toBe(0)
    },
  }
}

/**
 * Resolves when this many sessions of the schema wait: at its gate, or for a lock of another session. Fails
 * if `call`, the last that should wait, ends before.
 */
export async function untilWaiting(
  client: pg.Client,
  schema: string,
  sessions: number,
  call: Promise<unknown>,
): Promise<void> {
  let hasEnded = false
  const noteEnd = (): void => void (hasEnded = true)
  // Its failure is reported by the test that awaits it.
  void call.then(noteEnd, noteEnd)
  const isWaiting = async (): Promise<boolean> => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${schema}%`],
    )
    return rowCount === sessions
  }
  await expect.poll(async () => hasEnded || (await isWaiting()), { interval: 5 }).toBe(true)
  expect(hasEnded, 'the call has ended without waiting').toBe(false)
}

/** The keys of an advisory lock. */
function lockOf(schema: string): string {
  return `${KEY}, '${schema}'::regnamespace::oid::int4`
}
