/**
 * Restores names of queues and kinds whose rows were deleted or got another id while triggers were disabled.
 * Jobs refer to the ids, so a row without its id would hide its jobs.
 */
import { DEFAULT_QUEUE_SETTINGS } from '../../job/queue/queue-settings.ts'
import type { Connection } from '../connection/connection.ts'
import { MAY_MOVE } from '../schema/names.ts'

/** Restores rows with the ids that jobs refer to. */
const PUT_BACK_QUEUES = `
INSERT INTO jobmill.queue (id, name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms,
                           retain_done_ms, retain_cancelled_ms, retain_dead_ms, declared)
SELECT v.id, v.name, $3::int4, $4::bool, $5::bool, $6::int8, $7::int8, $8::int8, $9::int8, $10::int8, false
  FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`
const PUT_BACK_KINDS = `
INSERT INTO jobmill.kind (id, name)
SELECT v.id, v.name FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`

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

export const TABLES = [
  { table: 'queue', names: 'queues' },
  { table: 'kind', names: 'kinds' },
] as const

/** A name whose row no longer has this id. */
interface Moved {
  readonly table: string
  readonly name: string
  readonly id: number
}

type Named = readonly (readonly [name: string, id: number])[]

interface Restore {
  /** Adds missing rows with their ids, and reports them. */
  readonly queues: (gone: Named) => Promise<void>
  readonly kinds: (gone: Named) => Promise<void>
  /** Restores the ids of names. In any case, all processes read the names again. */
  readonly ids: (moved: readonly Moved[]) => Promise<void>
}

export function restoring(connection: Connection, sql: (text: string) => string): Restore {
  async function putBack(
    what: RestoredNames,
    statement: string,
    gone: Named,
    settings: readonly unknown[],
  ): Promise<void> {
    if (gone.length === 0) return
    const columns = [gone.map(([, id]) => id), gone.map(([name]) => name)]
    // Another process may have restored them first.
    const added = await connection.query(sql(statement), [...columns, ...settings])
    if (added.length > 0)
      warnRestored(
        what,
        added.map((row) => String(row['name'])),
      )
  }

  async function correct(moved: readonly Moved[]): Promise<void> {
    await connection.transaction(async (query) => {
      await query(sql(LOCK_NAMES), [])
      await query(sql(FORGET_VERSIONS), [])
      await query(ALLOW_MOVES, [])
      for (const { table } of TABLES) {
        const own = moved.filter((one) => one.table === table)
        const columns = [own.map(({ id }) => id), own.map(({ name }) => name)]
        if (own.length > 0) for (const step of moveBack(table)) await query(sql(step), columns)
      }
      await query(sql(ADD_VERSION), [])
    })
  }

  return {
    queues: (gone) => putBack('queues', PUT_BACK_QUEUES, gone, defaultSettings()),
    kinds: (gone) => putBack('kinds', PUT_BACK_KINDS, gone, []),
    ids: correct,
  }
}

type RestoredNames = 'queues' | 'kinds'

const RESTORED = {
  queues: {
    code: 'QUEUES_RESTORED',
    what: 'deleted rows of the table "queue" were restored with default settings',
    fix: 'Restart the processes that declare them, and set overrides again. Never delete rows from this table',
  },
  kinds: {
    code: 'KINDS_RESTORED',
    what: 'deleted rows of the table "kind" were restored',
    fix: 'Never delete rows from this table',
  },
} as const

function warnRestored(restored: RestoredNames, names: readonly string[]): void {
  const { code, what, fix } = RESTORED[restored]
  process.emitWarning(`${what}: ${names.join(', ')}. ${fix}.`, { type: 'JobmillWarning', code })
}

export function defaultSettings(): unknown[] {
  const s = DEFAULT_QUEUE_SETTINGS
  return [
    s.workers,
    s.paused,
    s.backoffEnabled,
    s.backoffBaseMs,
    s.backoffMaxMs,
    s.retainDoneMs,
    s.retainCancelledMs,
    s.retainDeadMs,
  ]
}
