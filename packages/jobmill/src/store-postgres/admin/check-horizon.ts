/**
 * Finds what prevents the server from removing dead rows, in every table of the database: sessions with an
 * open transaction, prepared transactions that were never ended, and inactive replication slots.
 */
import { shorten, sizeText } from '../../store/admin/amounts.ts'
import { spanText } from '../../job/text/span-text.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import type { Query } from '../connection/connection.ts'
import { loadPg } from '../connection/driver.ts'
import type { Look } from './reach.ts'

/**
 * Sessions of this database and processes of the server, except autovacuum workers, which do not hold back
 * cleanup.
 */
const SESSIONS = `
SELECT pid, application_name AS application, usename AS name, coalesce(state, backend_type) AS state, query,
       (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::int8 AS open_for
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

export interface SessionRow {
  readonly pid: number
  readonly application: string
  /** Null for a session of the server itself. */
  readonly name: string | null
  readonly state: string
  readonly query: string
  readonly open_for: number
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
export async function pinning(query: Query, openForMs: number): Promise<readonly SessionRow[]> {
  return (await query(SESSIONS, [openForMs])) as readonly unknown[] as readonly SessionRow[]
}

export async function horizon({ query }: Look, openForMs: number): Promise<Diagnostic[]> {
  const rows = async <T>(text: string, values: readonly unknown[]): Promise<readonly T[]> =>
    (await query(text, values)) as readonly unknown[] as readonly T[]
  const diagnostics = [
    ...(await pinning(query, openForMs)).map(session),
    ...(await rows<PreparedRow>(PREPARED, [openForMs])).map(preparedTransaction),
    ...(await rows<SlotRow>(SLOTS, [])).map(slot),
  ]
  if (diagnostics.length > 0) return diagnostics
  const hidden = (await rows<{ n: number }>(HIDDEN, []))[0]?.n ?? 0
  const seen = hidden === 0 ? '' : ` visible to this user (GRANT pg_read_all_stats to see ${hidden} more)`
  return [ok('horizon', `no transaction${seen} has been open for ${spanText(openForMs)}`)]
}

function session({ pid, application, name, state, query, open_for: openFor }: SessionRow): Diagnostic {
  const who = [application === '' ? 'unnamed' : application, name ?? 'server process', state].join(', ')
  return warning(
    'horizon',
    `session ${pid} (${who}) has had a transaction open for ${spanText(openFor)}, which prevents ` +
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
