/**
 * Restores names of queues and kinds whose rows were deleted or got another id while triggers were disabled.
 * Jobs refer to the ids, so a row without its id would hide its jobs.
 */
import { ON_CANCELLED_QUEUE, onCancelledKind } from '../../job/attempt/on-cancelled.ts'
import type { Connection } from '../connection/connection.ts'
import { COLUMNS, DEFAULT_ROW, DEFAULT_VALUES } from '../queues/queue-rows.ts'
import { MAY_MOVE } from '../schema/names.ts'

/** In two parts, because the name of the schema replaces "jobmill." in statements. */
const QUEUE = `'${ON_CANCELLED_QUEUE.replace('.', `' || '.`)}'`
/** Whether a running process handles the follow-ups of cancelled jobs of the kind `v.name`. */
const HAS_FOLLOW_UPS = `EXISTS (SELECT FROM jobmill.instance AS i
  WHERE i.ended_at IS NULL AND ${QUEUE} = ANY (i.queues) AND v.name = ANY (i.kinds)
    AND split_part(v.name, '@', 1) || '${onCancelledKind('')}' = ANY (i.kinds))`

/**
 * The tables of names. Rows are put back with the ids that jobs refer to, which another process may have done
 * first.
 */
export const TABLES = [
  {
    table: 'queue',
    names: 'queues',
    add: `
INSERT INTO jobmill.queue (id, name, ${COLUMNS.join(', ')})
SELECT v.id, v.name, ${DEFAULT_VALUES} FROM unnest($1::int4[], $2::text[]) AS v(id, name), ${DEFAULT_ROW}
    ON CONFLICT DO NOTHING RETURNING name`,
    code: 'QUEUES_RESTORED',
    what: 'deleted rows of the table "queue" were restored with default settings',
    fix: 'Restart the processes that declare them, and set overrides again. Never delete rows from this table',
  },
  {
    table: 'kind',
    names: 'kinds',
    add: `
INSERT INTO jobmill.kind (id, name, on_cancelled) SELECT v.id, v.name, ${HAS_FOLLOW_UPS}
  FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`,
    code: 'KINDS_RESTORED',
    what: 'deleted rows of the table "kind" were restored',
    fix: 'Never delete rows from this table',
  },
] as const

/**
 * Moves rows of jobmill.queue or jobmill.kind back to their ids, in steps, because names may have exchanged
 * theirs. An id is not taken from a name that is not moved; a row whose id is in use gets a new id.
 */
const moveBack = (table: string): string[] => [
  `UPDATE jobmill.${table} AS t SET id = -v.id FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    WHERE t.name = v.name AND t.id <> v.id
      AND NOT EXISTS (SELECT FROM jobmill.${table} AS o WHERE o.id = v.id AND o.name <> ALL ($2::text[]))`,
  `UPDATE jobmill.${table} AS t SET id = -t.id
    WHERE t.id = ANY (ARRAY(SELECT -v.id FROM unnest($1::int4[], $2::text[]) AS v(id, name)))
      AND NOT EXISTS (SELECT FROM jobmill.${table} AS o WHERE o.id = -t.id)`,
  `UPDATE jobmill.${table} AS t SET id = nextval('jobmill.${table}_ids') WHERE t.id < 0 AND t.name = ANY ($2::text[])
      AND $1::int4[] IS NOT NULL`,
]
const ALLOW_MOVES = `SELECT set_config('${MAY_MOVE}', 'on', true)`
const LOCK_NAMES = `SELECT pg_advisory_xact_lock(hashtextextended('jobmill.names', 0))`
const FORGET_VERSIONS = `DELETE FROM jobmill.names`

/** Restores the version when the table was emptied manually. */
export const ADD_VERSION = `SELECT jobmill.add_names_version() WHERE NOT EXISTS (SELECT FROM jobmill.names)`

type Named = readonly (readonly [name: string, id: number])[]
type Schema = (text: string) => string

const idsAndNames = (named: Named): unknown[] => [named.map(([, id]) => id), named.map(([name]) => name)]

/** Adds missing rows with their ids, and reports them. */
export async function putBack(
  { query }: Connection,
  sql: Schema,
  { add, code, what, fix, gone }: (typeof TABLES)[number] & { readonly gone: Named },
): Promise<void> {
  if (gone.length === 0) return
  const added = await query(sql(add), idsAndNames(gone))
  const names = added.map((row) => String(row['name'])).join(', ')
  if (added.length > 0) process.emitWarning(`${what}: ${names}. ${fix}.`, { type: 'JobmillWarning', code })
}

/** Restores the ids of names. In any case, all processes read the names again. */
export async function restoreIds(
  connection: Connection,
  sql: Schema,
  moved: readonly { readonly table: string; readonly named: Named }[],
): Promise<void> {
  await connection.transaction(async (query) => {
    await query(sql(LOCK_NAMES), [])
    await query(sql(FORGET_VERSIONS), [])
    await query(ALLOW_MOVES, [])
    for (const { table, named } of moved)
      if (named.length > 0) for (const step of moveBack(table)) await query(sql(step), idsAndNames(named))
    await query(sql(ADD_VERSION), [])
  })
}
