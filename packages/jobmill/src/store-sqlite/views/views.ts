/** Saved views: reads all of them, adds one and deletes one. */
import type { NewView, ViewRecord } from '../../store/types/view.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key, or reads all views in its order, because there are few.
const COLUMNS = `name, search, author AS "by", created_at AS createdAt`
const ALL = `SELECT ${COLUMNS} FROM jobmill_view ORDER BY name`
const FIND = `SELECT ${COLUMNS} FROM jobmill_view WHERE name = ?`
const SAVE = `INSERT OR REPLACE INTO jobmill_view (name, search, author, created_at) VALUES (?, ?, ?, ?)`
const DELETE = `DELETE FROM jobmill_view WHERE name = ?`

export function views({ sql }: Look): ViewRecord[] {
  return sql(ALL).all() as ViewRecord[]
}

export function addView(work: Work, { name, search, by }: NewView): boolean {
  const known = work.sql(FIND).get(name) as ViewRecord | undefined
  if (known !== undefined) return known.search === search && known.by === by
  saveView(work, { name, search, by, createdAt: work.now })
  return true
}

export function deleteView({ sql }: Work, name: string): boolean {
  return sql(DELETE).run(name).changes !== 0
}

/** For a transfer: replaces an existing view. */
export function saveView({ sql }: Work, { name, search, by, createdAt }: ViewRecord): void {
  sql(SAVE).run(name, search, by, createdAt)
}
