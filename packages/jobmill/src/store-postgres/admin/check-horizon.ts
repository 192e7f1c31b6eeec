/**
 * Finds what prevents the server from removing dead rows, in every table of the database: sessions with an
 * open transaction, prepared transactions that were never ended, and inactive replication slots.
 */
import { shorten, sizeText } from '../../store/admin/amounts.ts'
import { spanText } from '../../job/text/span-text.ts'
import { type Diagnostic, type PinningSession, warning, ok } from '../../store/admin/admin.ts'
import { type Query, recordsOf } from '../connection/connection.ts'
import { loadPg } from '../connection/driver.ts'
import type { Look } from './reach.ts'

/**
 * Sessions of this database and processes of the server, except autovacuum workers, which do not hold back
 * cleanup.
 */
const SESSIONS = `
SELECT pid, application_name AS application, usename AS "user", coalesce(state, backend_type) AS state, query,
       (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::int8 AS "ageMs"
  FROM pg_stat_activity
 WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND xact_start IS NOT NULL
   AND (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
   AND backend_type <> 'autovacuum worker' AND clock_timestamp() - xact_start >= $1 * interval '1 ms'
 ORDER BY xact_start LIMIT 10`

const PREPARED = `
SELECT gid, owner, (extract(epoch FROM clock_timestamp() - prepared) * 1000)::int8 AS open_for
  FROM pg_prepared_xacts
 WHERE database = current_database() AND clock_timestamp() - prepared >= $1 * interval '1 ms' ORDER BY prepared LIMIT 10`

const SLOTS = `
SELECT slot_name AS name, coalesce(age(xmin), age(catalog_xmin)) AS transactions,
       pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)::int8 AS bytes
  FROM pg_replication_slots WHERE NOT active AND (datoid IS NULL OR database = current_database())
   AND (xmin IS NOT NULL OR catalog_xmin IS NOT NULL OR restart_lsn IS NOT NULL) ORDER BY 2 DESC NULLS LAST LIMIT 10`

/** Sessions whose transactions this role may not see. */
const HIDDEN = `
SELECT count(*) AS n FROM pg_stat_activity
 WHERE datname = current_database() AND backend_xmin IS NOT NULL AND xact_start IS NULL AND pid <> pg_backend_pid()`

interface SessionRow extends PinningSession {
  readonly application: string
  readonly query: string
}

interface PreparedRow {
  readonly gid: string
  readonly owner: string
  readonly open_for: number
}

interface SlotRow {
  readonly name: string
  readonly transactions: number | null
  readonly bytes: number | null
}

/** Sessions with a transaction open for at least this long, oldest first. */
export async function pinning(query: Query, openForMs: number): Promise<SessionRow[]> {
  return recordsOf(await query(SESSIONS, [openForMs]))
}

export async function horizon({ query }: Look, openForMs: number): Promise<Diagnostic[]> {
  const diagnostics = [
    ...(await pinning(query, openForMs)).map(session),
    ...recordsOf<PreparedRow>(await query(PREPARED, [openForMs])).map(preparedTransaction),
    ...recordsOf<SlotRow>(await query(SLOTS, [])).map(slot),
  ]
  if (diagnostics.length > 0) return diagnostics
  const hidden = Number((await query(HIDDEN, []))[0]?.['n'])
  const seen = hidden === 0 ? '' : ` visible to this user (GRANT pg_read_all_stats to see ${hidden} more)`
  return [ok('horizon', `no transaction${seen} has been open for ${spanText(openForMs)}`)]
}

function session({ pid, application, user, state, query, ageMs }: SessionRow): Diagnostic {
  const who = [application === '' ? 'unnamed' : application, user ?? 'server process', state].join(', ')
  return warning(
    'horizon',
    `session ${pid} (${who}) has had a transaction open for ${spanText(ageMs)}, which prevents ` +
      `the cleanup of dead rows. Last statement: ${shorten(query)}`,
    `End it: SELECT pg_terminate_backend(${pid}). Set idle_in_transaction_session_timeout to let the server end such sessions`,
  )
}

function preparedTransaction({ gid, owner, open_for: openFor }: PreparedRow): Diagnostic {
  const name = loadPg().escapeLiteral(gid)
  return warning(
    'horizon',
    `transaction ${name} of ${owner} was prepared ${spanText(openFor)} ago and never ended, which prevents ` +
      'the cleanup of dead rows',
    `End it: COMMIT PREPARED ${name} or ROLLBACK PREPARED ${name}`,
  )
}

function slot({ name, transactions, bytes }: SlotRow): Diagnostic {
  const rows = transactions === null ? '' : ` and the rows of ${transactions} transactions`
  return warning(
    'horizon',
    `the replication slot ${name} is inactive and retains ${sizeText(bytes ?? 0)} of WAL${rows}`,
    `Restart its consumer, or drop it: SELECT pg_drop_replication_slot(${loadPg().escapeLiteral(name)})`,
  )
}
