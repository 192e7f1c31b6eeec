/** Brings the tables of an application up to date: each step once, in its order, whoever of several processes starts first. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Place } from './place.ts'

export interface StepTools {
  readonly type: Place['type']
  /** A table by its name, for statements that are written out. */
  readonly table: (name: string) => RawBuilder<unknown>
}

/** One step, inside of a transaction. One that was published is never changed: what is wrong with it is mended by the next. */
export type Step = (db: Transaction<never>, tools: StepTools) => Promise<void>

export interface Migration extends StepTools {
  readonly app: string
  /** On PostgreSQL. */
  readonly schema: string | null
  readonly steps: readonly Step[]
}

/** Any number will do, as long as it is the same in every process. */
const LOCK = 7_318_220_915

export async function migrate(
  db: Kysely<never>,
  { app, schema, type, table, steps }: Migration,
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
  })
}
