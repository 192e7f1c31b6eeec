/** Alert rules: reads them, and writes one if it did not change since it was read. */
import type { AlertRecord, AlertWrite } from '../../store/types/alert.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key, or reads all rules in its order, because there are few.
const ALL = `SELECT name, revision, rule, state FROM jobmill_alert ORDER BY name`
const FIND = `SELECT name, revision, rule, state FROM jobmill_alert WHERE name = ?`
const SAVE = `INSERT OR REPLACE INTO jobmill_alert (name, revision, rule, state) VALUES (?, ?, ?, ?)`
const DELETE = `DELETE FROM jobmill_alert WHERE name = ?`

interface Row {
  readonly name: string
  readonly revision: number
  readonly rule: string
  readonly state: string
}

export function alerts({ sql }: Look): AlertRecord[] {
  return (sql(ALL).all() as Row[]).map(({ name, revision, rule, state }) => ({
    name,
    revision,
    rule: JSON.parse(rule) as AlertRecord['rule'],
    state: JSON.parse(state) as AlertRecord['state'],
  }))
}

export function putAlert({ sql, now }: Work, write: AlertWrite): number | null {
  const { name, revision } = write
  const [rule, state] = [JSON.stringify(write.rule), JSON.stringify(write.state)]
  const known = sql(FIND).get(name) as Row | undefined
  const isDone = known?.rule === rule && known.state === state
  if (isDone && known.revision === (revision === null ? known.revision : revision + 1)) return known.revision
  if ((known?.revision ?? null) !== revision) return null
  const next = revision === null ? now : revision + 1
  sql(SAVE).run(name, next, rule, state)
  return next
}

export function deleteAlert({ sql }: Work, name: string): boolean {
  return sql(DELETE).run(name).changes !== 0
}

/** For a transfer: replaces an existing rule. */
export function saveAlert({ sql }: Work, { name, revision, rule, state }: AlertRecord): void {
  sql(SAVE).run(name, revision, JSON.stringify(rule), JSON.stringify(state))
}
