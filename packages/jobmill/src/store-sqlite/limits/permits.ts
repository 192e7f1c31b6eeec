/**
 * Permits of concurrency limits. The row of a limit stores their sum, which every change of permits updates
 * in the same transaction. A release notifies the queues that wait for it.
 */
import type { Work } from '../work.ts'

// Uses the primary key.
const GIVE = `
  INSERT INTO jobmill_permit (limit_id, holder, instance_pk, amount) VALUES (?, ?, ?, ?)
  ON CONFLICT (limit_id, holder) DO UPDATE SET amount = amount + excluded.amount, instance_pk = excluded.instance_pk`
const GIVE_JOBS = `
  INSERT INTO jobmill_permit (limit_id, holder, instance_pk, amount)
  SELECT ?, j.id, ?, 1 FROM json_each(?) AS chosen CROSS JOIN jobmill_job AS j ON j.pk = chosen.value WHERE true
  ON CONFLICT (limit_id, holder) DO UPDATE SET amount = amount + excluded.amount, instance_pk = excluded.instance_pk`
const HOLD = `UPDATE jobmill_limit SET held = held + ? WHERE id = ?`
const RETURN = `DELETE FROM jobmill_permit WHERE limit_id = ? AND holder = ? RETURNING limit_id, amount`
const DROP = `DELETE FROM jobmill_permit WHERE limit_id = ?`

// Uses jobmill_permit_holder, jobmill_permit_instance and jobmill_queue_limit.
const FREE_HOLDER = `DELETE FROM jobmill_permit WHERE holder = ? RETURNING limit_id, amount`
const FREE_INSTANCE = `DELETE FROM jobmill_permit WHERE instance_pk = ? RETURNING limit_id, amount`
const QUEUES = `SELECT id FROM jobmill_queue INDEXED BY jobmill_queue_limit WHERE limit_id = ?`

interface Freed {
  readonly limit_id: number
  readonly amount: number
}

export interface NewPermit {
  readonly holder: string
  readonly instancePk: number
  readonly amount: number
}

/** Adds to what the holder has of this limit. */
export function grantPermit({ sql }: Work, limitId: number, permit: NewPermit): void {
  sql(GIVE).run(limitId, permit.holder, permit.instancePk, permit.amount)
  sql(HOLD).run(permit.amount, limitId)
}

/** Grants one permit to each claimed job. */
export function grantPermits(work: Work, limitId: number, pks: readonly number[], instancePk: number): void {
  work.sql(GIVE_JOBS).run(limitId, instancePk, JSON.stringify(pks))
  work.sql(HOLD).run(pks.length, limitId)
}

/** Releases a permit before its job ends; false when there was none. */
export function returnPermit(work: Work, limitId: number, holder: string): boolean {
  return releaseRows(work, work.sql(RETURN).all(limitId, holder))
}

/** Call it when a job stops running. */
export function freeHolder(work: Work, holder: string): void {
  releaseRows(work, work.sql(FREE_HOLDER).all(holder))
}

/** Call it when an instance has ended. */
export function freeInstance(work: Work, instancePk: number): void {
  releaseRows(work, work.sql(FREE_INSTANCE).all(instancePk))
}

/** Call it when the limit itself is deleted. */
export function dropPermitsOf({ sql }: Work, limitId: number): void {
  sql(DROP).run(limitId)
}

/** Notifies the queues that use this limit. */
export function notifyFor({ sql, moves }: Work, limitId: number): void {
  for (const { id } of sql(QUEUES).all(limitId) as { id: number }[]) moves.notify(id)
}

function releaseRows(work: Work, rows: readonly unknown[]): boolean {
  for (const { limit_id: limitId, amount } of rows as readonly Freed[]) {
    work.sql(HOLD).run(-amount, limitId)
    notifyFor(work, limitId)
  }
  return rows.length > 0
}
