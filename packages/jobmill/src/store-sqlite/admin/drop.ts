/**
 * Drops the tables of Jobmill, and nothing else. Does not delete the file even if it is empty, because a
 * process that has it open would continue in a file that no other process can see.
 */
import { JobmillError } from '../../job/errors.ts'
import type { Dropped } from '../../store/admin/admin.ts'
import { checkApplied } from '../../store/admin/migrations.ts'
import { openConnection } from '../connection/connection.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'
import type { StoreSettings } from '../live.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { afterMigrations, tablesIn } from './parts.ts'
import { isFileThere, patiently } from './reach.ts'

const ALIVE = `
  SELECT coalesce(label, id) AS name FROM jobmill_instance WHERE state = 0 AND expires_at > ? ORDER BY started_at`
const OTHERS = `SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL`

interface OtherRow {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string
}

/** In one transaction, all or nothing. */
export async function drop(settings: StoreSettings): Promise<Dropped> {
  if (!isFileThere(settings)) return { alive: [] }
  return patiently(settings, () => {
    const handle = openConnection(settings.path, settings.durability)
    try {
      handle.exec('BEGIN IMMEDIATE')
      const { alive, isEmpty } = dropTables(handle, Math.floor(settings.clock()))
      handle.exec('COMMIT')
      if (isEmpty) release(handle)
      return { alive }
    } finally {
      // Closing rolls back an uncommitted transaction.
      handle.close()
    }
  })
}

/** `isEmpty`: the file contains nothing else. */
function dropTables(handle: SqliteHandle, now: number): Dropped & { readonly isEmpty: boolean } {
  const ours = madeIn(handle)
  const alive = ours.length === 0 ? [] : aliveIn(handle, now)
  if (ours.length === 0 || alive.length > 0) return { alive, isEmpty: false }
  const others = othersIn(handle, ours)
  checkUnused(others, ours)
  for (const table of ours) handle.exec(`DROP TABLE ${table}`)
  return { alive, isEmpty: others.length === 0 }
}

/** Returns the space of an empty file to the disk. */
function release(handle: SqliteHandle): void {
  try {
    handle.exec('VACUUM')
  } catch {
    // A reader blocks it. Later writes reuse the space.
  }
}

/**
 * The tables created by the applied migrations. Refuses migrations of a newer release, which may have created
 * more.
 */
function madeIn(handle: SqliteHandle): string[] {
  const applied = appliedMigrations(handle)
  if (applied === null) return []
  checkApplied(
    applied.filter(({ number }) => number > (MIGRATIONS.at(-1)?.number ?? 0)),
    MIGRATIONS,
  )
  const there = new Set(tablesIn(handle))
  const known = MIGRATIONS.filter(({ number }) => applied.some((one) => one.number === number))
  return afterMigrations(tablesIn, known).filter((table) => there.has(table))
}

function aliveIn(handle: SqliteHandle, now: number): string[] {
  const isThere = tablesIn(handle).includes('jobmill_instance')
  if (!isThere) return []
  return (statementsOf(handle)(ALIVE).all(now) as { name: string }[]).map(({ name }) => name)
}

function othersIn(handle: SqliteHandle, ours: readonly string[]): OtherRow[] {
  return (statementsOf(handle)(OTHERS).all() as OtherRow[]).filter(({ table }) => !ours.includes(table))
}

/** SQLite would drop a table that a view still uses, and fail only when the view is queried. */
function checkUnused(others: readonly OtherRow[], ours: readonly string[]): void {
  const mentions = new RegExp(String.raw`\b(?:${ours.join('|')})\b`, 'i')
  const needing = others.filter(({ sql }) => mentions.test(sql)).map(({ type, name }) => `${type} ${name}`)
  if (needing.length === 0) return
  throw new JobmillError('STORE_REFUSED', `Jobmill tables are used by the ${needing.join(', the ')}`, {
    fix: 'Drop these objects first, then run the command again',
  })
}
