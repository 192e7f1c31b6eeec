/** The server raises unusual errors on the tables that enqueue and finish write. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { nowMs } from '../../cluster/clock.ts'
import { BACK_MS, cannot, type Nemesis } from '../scene.ts'
import { asOperator } from './server.ts'

/** Failing disks and memory, a defect of the server or a pooler, and an invented code. */
const CODES = ['58030', '53200', 'XX000', 'JM001']
const EACH_MS = 600
const TIMEOUT_MS = 300
const LOCKED_MS = 1_200

/** Counted by a sequence, because the failed transaction rolls back its other writes. */
const MAKE = `
CREATE SEQUENCE IF NOT EXISTS public.odd_errors;
CREATE OR REPLACE FUNCTION public.odd_error() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('public.odd_errors');
  RAISE EXCEPTION 'an odd error' USING ERRCODE = TG_ARGV[0];
END $$`
const COUNT = `SELECT CASE WHEN is_called THEN last_value::int4 ELSE 0 END AS n FROM public.odd_errors`
const TABLES = `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'jobmill' AND tablename IN ('job', 'ready', 'running', 'attempt')`
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'jobmill%'`

export const oddErrors: Nemesis = {
  name: 'odd-errors',
  stores: ['postgres'],
  recoversWithinMs: BACK_MS * 2,
  async strike({ postgres, progressLog, outages }) {
    if (postgres === null) return cannot('there is no server', nowMs())
    const from = nowMs()
    const injected = await asOperator(postgres.primary.url, async (client) => {
      await client.query(MAKE)
      const tables = (await client.query<{ name: string }>(TABLES)).rows.map(({ name }) => name)
      for (const code of CODES) await raise(client, tables, code)
      await timeOut(client)
      return (await client.query<{ n: number }>(COUNT)).rows[0]?.n ?? 0
    })
    const overAt = nowMs()
    progressLog.say(`${injected} writes failed with ${CODES.join(', ')}, others ran into transaction_timeout`)
    outages.push({ from, to: overAt })
    return { injected, overAt }
  },
}

async function raise(client: pg.Client, tables: readonly string[], code: string): Promise<void> {
  for (const table of tables)
    await client.query(
      `CREATE OR REPLACE TRIGGER odd_error BEFORE INSERT OR UPDATE OR DELETE ON jobmill.${table}
        FOR EACH STATEMENT EXECUTE FUNCTION public.odd_error('${code}')`,
    )
  await sleep(EACH_MS)
  for (const table of tables) await client.query(`DROP TRIGGER odd_error ON jobmill.${table}`)
  // Let work continue for a moment between two codes.
  await sleep(EACH_MS)
}

/** 25P04: a role setting terminates sessions that wait for a lock. */
async function timeOut(client: pg.Client): Promise<void> {
  await client.query(`ALTER ROLE postgres SET transaction_timeout = '${TIMEOUT_MS}ms'`)
  await client.query(TERMINATE)
  await client.query('SET transaction_timeout = 0')
  await client.query('BEGIN')
  await client.query('LOCK TABLE jobmill.job IN ACCESS EXCLUSIVE MODE')
  await sleep(LOCKED_MS)
  await client.query('COMMIT')
  await client.query('ALTER ROLE postgres RESET transaction_timeout')
  await client.query(TERMINATE)
}
