/** Sessions that wait for a lock, for tests whose statements must overlap. */
import type pg from 'pg'
import { expect } from 'vitest'

/** Of the statements that name this schema. */
export const WAITING = `wait_event_type = 'Lock' AND query LIKE $1 AND pid <> pg_backend_pid()`

/** Resolves when that many sessions wait for a lock of this schema. */
export async function untilWaiting(client: pg.Client, schema: string, sessions: number): Promise<void> {
  const text = `SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE ${WAITING}`
  const waiting = async (): Promise<number> =>
    (await client.query<{ n: number }>(text, [`%${schema}%`])).rows[0]?.n ?? 0
  await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(sessions)
}
