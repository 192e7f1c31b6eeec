/**
 * Drops everything that the migrations created, in one transaction and never with CASCADE. Foreign objects
 * stay, and if one depends on our tables, nothing is dropped. The schema is dropped too if it is empty and
 * this role could create it again.
 */
import { JobmillError } from '../../job/errors.ts'
import { nameOf } from '../../store/admin/drift.ts'
import type { Dropped } from '../../store/admin/admin.ts'
import { type AppliedMigration, checkApplied } from '../../store/admin/migrations.ts'
import type { Query } from '../connection/connection.ts'
import { codeOf } from '../connection/errors.ts'
import { appliedMigrations, lockMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { partsIn } from './catalog.ts'
import { expectedParts } from './expected.ts'
import { withConnectionIfThere, type Site } from './reach.ts'

/** Limits the wait, because later statements on the table wait for this lock. */
const WAIT = `SET LOCAL lock_timeout = '2s'`
const ALIVE = `
SELECT coalesce(label, id::text) AS name FROM jobmill.instance
 WHERE ended_at IS NULL AND expires_at > coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)) ORDER BY started_at`
const LOCK = 'LOCK TABLE jobmill.instance IN ACCESS EXCLUSIVE MODE'

const EMPTY_AND_OURS = `
SELECT EXISTS (
  SELECT FROM pg_namespace AS n
   WHERE n.nspname = $1 AND n.nspname <> 'public' AND n.nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
     AND has_database_privilege(current_database(), 'CREATE')
     AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid)) AS is_so`

export async function drop(site: Site): Promise<Dropped> {
  const { settings, schema, sql } = site
  const alive = await withConnectionIfThere(settings, ({ transaction }) =>
    transaction(async (query) => {
      await lockMigrations(query, schema)
      await query(WAIT, [])
      const applied = await appliedMigrations(query, site)
      if (applied === null) return []
      checkKnown(applied)
      const found = await partsIn(query, schema)
      const alive = found.has('table instance') ? await aliveIn(query, site) : []
      if (alive.length > 0) return alive
      const parts = madeBy(applied).filter((part) => found.has(part))
      await dropParts(query, sql, parts)
      const [row] = await query(EMPTY_AND_OURS, [schema])
      if (row?.['is_so'] === true) await query(`DROP SCHEMA ${sql('jobmill.').slice(0, -1)}`, [])
      return []
    }),
  )
  return { alive: alive ?? [] }
}

/** A newer release may have created objects that this one does not know. */
function checkKnown(applied: readonly AppliedMigration[]): void {
  const newest = MIGRATIONS.at(-1)?.number ?? 0
  const newer = applied.filter(({ number }) => number > newest)
  checkApplied(newer, MIGRATIONS)
}

/**
 * Looks twice: without a lock, so that running processes are not disturbed, and again under the lock, for
 * instances that started in between.
 */
async function aliveIn(query: Query, { settings, sql }: Site): Promise<string[]> {
  const look = async (): Promise<string[]> =>
    (await query(sql(ALIVE), [settings.clock?.() ?? null])).map((row) => String(row['name']))
  const alive = await look()
  if (alive.length > 0) return alive
  await query(sql(LOCK), [])
  return look()
}

/**
 * Uses the SQL of the applied migrations, because a table of the same name in a shared schema may be foreign.
 */
function madeBy(applied: readonly AppliedMigration[]): string[] {
  const texts = MIGRATIONS.filter(({ number }) => applied.some((one) => one.number === number))
  const made = new Set(['table migration'])
  for (const { sql } of texts)
    for (const [, kind = '', name] of sql.matchAll(/CREATE (TABLE|SEQUENCE|FUNCTION) jobmill\.(\w+)/g))
      made.add(`${kind.toLowerCase()} ${name}`)
  return [...expectedParts().keys()].filter((part) => made.has(part.replace(/\(.*/, '')))
}

async function dropParts(query: Query, sql: Site['sql'], parts: readonly string[]): Promise<void> {
  const named = (kind: string): string =>
    parts
      .filter((part) => part.startsWith(`${kind} `))
      .map((part) => sql(`jobmill.${nameOf(part)}`))
      .join(', ')
  try {
    // Triggers are dropped with their tables. Their functions come after them.
    for (const kind of ['table', 'function', 'sequence'])
      if (named(kind) !== '') await query(`DROP ${kind.toUpperCase()} ${named(kind)}`, [])
  } catch (error) {
    if (codeOf(error) !== '2BP01') throw error
    const detail = error instanceof Error && 'detail' in error ? String(error.detail) : String(error)
    throw new JobmillError('STORE_REFUSED', `other database objects depend on Jobmill: ${detail}`, {
      fix: 'Drop these objects first, then run the command again',
      cause: error,
    })
  }
}
