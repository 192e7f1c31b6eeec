/** Checks for dead rows and bloat, above all in the tables that every job passes through. */
import { sizeText } from '../../store/admin/amounts.ts'
import { spanText } from '../../job/text/span-text.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import { recordsOf } from '../connection/connection.ts'
import { ourTables } from './expected.ts'
import type { Look } from './reach.ts'

/** Too many dead rows: more than autovacuum normally leaves, and more than twice the live rows. */
const MOST_DEAD = 50_000
const MOST_DEAD_PER_LIVE = 2

/** Too large: more than this size, and ten times what the rows of a table with high turnover need. */
const MOST_BYTES = 32 * 2 ** 20
const BYTES_PER_ROW = 1_024
const MOST_SHARE = 10

const HOT = [
  'ready',
  'running',
  'batch',
  'later',
  'order_queue',
  'order_check',
  'tally',
  'order_lock',
  'permit',
  'metric_delta',
]

/** Uses the server's counters without reading a table. Sizes include indexes and TOAST. */
const TABLES = `
SELECT s.relname AS name, s.n_live_tup AS live, s.n_dead_tup AS dead, pg_total_relation_size(s.relid) AS bytes,
       (extract(epoch FROM clock_timestamp() - greatest(s.last_autovacuum, s.last_vacuum)) * 1000)::int8 AS cleaned_ago
  FROM pg_stat_user_tables AS s WHERE s.schemaname = $1 AND s.relname = ANY ($2) ORDER BY s.n_dead_tup DESC`

interface TableRow {
  readonly name: string
  readonly live: number
  readonly dead: number
  readonly bytes: number
  /** Null for never, as far as the server remembers. */
  readonly cleaned_ago: number | null
}

export async function bloat({ query, schema, sql }: Look): Promise<Diagnostic[]> {
  const tables = recordsOf<TableRow>(await query(TABLES, [schema, ourTables()]))
  const diagnostics = tables.flatMap((table) => {
    const name = sql(`jobmill.${table.name}`)
    return deadRows(table, name) ?? tooLarge(table, name) ?? []
  })
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  return diagnostics.length > 0
    ? diagnostics
    : [ok('bloat', `the tables take ${sizeText(bytes)}, without bloat`)]
}

/** Null if the table has few dead rows. */
function deadRows({ live, dead, cleaned_ago: ago }: TableRow, name: string): Diagnostic | null {
  if (dead <= MOST_DEAD || dead <= live * MOST_DEAD_PER_LIVE) return null
  const last = ago === null ? 'It was never vacuumed' : `It was last vacuumed ${spanText(ago)} ago`
  return warning(
    'bloat',
    `${name} has ${dead} dead rows and ${live} live rows. ${last}`,
    `Run VACUUM ${name}. First end the transactions that the check "horizon" reports, if any`,
  )
}

/** Null if the table is not too large. */
function tooLarge({ name, live, bytes }: TableRow, shown: string): Diagnostic | null {
  if (!HOT.includes(name) || bytes <= MOST_BYTES || bytes <= live * BYTES_PER_ROW * MOST_SHARE) return null
  return warning(
    'bloat',
    `${shown} takes ${sizeText(bytes)} for only ${live} rows`,
    `Run VACUUM FULL ${shown} at a quiet time. It locks the table while it rewrites the rows`,
  )
}
