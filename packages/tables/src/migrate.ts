/**
 * Migrates the tables of an application. Each step runs once, in order, even if several processes start at
 * the same time.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Place } from './place.ts'

export interface StepTools {
  readonly type: Place['type']
  /** The qualified table name, for hand-written statements. */
  readonly table: (name: string) => RawBuilder<unknown>
}

/**
 * One migration step, run inside a transaction. Never change a published step: add a new one that corrects
 * it.
 */
export type Step = (db: Transaction<never>, tools: StepTools) => Promise<void>

export interface Migration extends StepTools {
  readonly app: string
  /** The PostgreSQL schema; null on SQLite. */
  readonly schema: string | null
  readonly steps: readonly Step[]
  /** Runs after the steps, in their transaction, each time. */
  readonly fill: (db: Transaction<never>) => Promise<unknown>
}

/** An arbitrary number that must be the same in every process. */
const LOCK = 7_318_220_915

export async function migrate(
  db: Kysely<never>,
  { app, schema, type, table, steps, fill }: Migration,
): Promise<void> {
  const done = table(`${app}_migration`)
  await db.transaction().execute(async (trx) => {
    if (schema !== null) {
      await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx)
      await sql`CREATE SCHEMA IF NOT EXISTS ${sql.id(schema)}`.execute(trx)
    }
    await sql`CREATE TABLE IF NOT EXISTS ${done} (n integer PRIMARY KEY)`.execute(trx)
    const { rows } = await sql<{ n: number }>`SELECT n FROM ${done}`.execute(trx)
    const made = new Set(rows.map(({ n }) => n))
    for (const [at, step] of steps.entries()) {
      if (made.has(at + 1)) continue
      await step(trx, { type, table })
      await sql`INSERT INTO ${done} (n) VALUES (${at + 1})`.execute(trx)
    }
    await fill(trx)
  })
}
