/** Exports and imports dedupe keys, whatever the state of their jobs. */
import type { TransferredKey, Page } from '../../store/admin/transfer.ts'
import type { Look, Work } from '../work.ts'

// Both by the primary key, the first in its order.
const OUT = `SELECT key, job_id AS job, expires_at AS expiresAt FROM jobmill_dedupe WHERE key > ? ORDER BY key LIMIT ?`
const IN = `INSERT OR IGNORE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, ?)`

export function keysOut({ sql }: Look, { after, limit }: Page<'keys'>): TransferredKey[] {
  return sql(OUT).all(after?.key ?? '', limit) as TransferredKey[]
}

export function keysIn({ sql }: Work, keys: readonly TransferredKey[]): number {
  return keys.filter(({ key, job, expiresAt }) => sql(IN).run(key, job, expiresAt).changes !== 0).length
}
