/** The databases, from outside the mill: their sizes and their faults. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import type { Place } from '../cluster/places.ts'
import type { DatabaseSample } from './verdict/figures.ts'

export interface SoakDatabase {
  readonly place: Place
  readonly sample: () => Promise<DatabaseSample>
  /** Makes the database unusable for a moment. */
  readonly trouble: () => Promise<void>
  readonly close: () => Promise<unknown>
}

// Ended instances stay visible for an hour, longer than most runs: one row per visit.
const ALL_BUT_ENDED_INSTANCES = 'ended_at IS NULL'

const LOCKED_MS = 500

export function sqliteDatabase(folder: string): SoakDatabase {
  const file = path.join(folder, 'jobs.db')
  const connect = (): Database.Database => new Database(file, { timeout: 5_000 })
  return {
    place: { store: 'sqlite', at: file },
    async sample() {
      const database = connect()
      try {
        const names = database
          .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'jobmill%'`)
          .pluck()
          .all() as string[]
        const count = (name: string): number => {
          const where = name === 'jobmill_instance' ? `WHERE ${ALL_BUT_ENDED_INSTANCES}` : ''
          return database.prepare(`SELECT count(*) FROM ${name} ${where}`).pluck().get() as number
        }
        // The WAL has its own size limit.
        return { rows: names.reduce((sum, name) => sum + count(name), 0), size: statSync(file).size }
      } finally {
        database.close()
      }
    },
    async trouble() {
      const database = connect()
      try {
        database.exec('BEGIN IMMEDIATE')
        await sleep(LOCKED_MS)
        database.exec('ROLLBACK')
      } finally {
        database.close()
      }
    },
    // The folder belongs to the caller.
    close: () => Promise.resolve(),
  }
}

export async function postgresDatabase(): Promise<SoakDatabase> {
  const server = await startPostgres({ binaries: 'current' })
  const client = new pg.Client({ connectionString: server.url, application_name: 'soak' })
  await client.connect()
  const number = async (sql: string): Promise<number> => {
    const { rows } = await client.query<{ n: string | null }>(sql)
    return Number(rows[0]?.n ?? 0)
  }
  const tables = async (): Promise<string[]> =>
    (
      await client.query<{ name: string }>(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'jobmill' ORDER BY 1`,
      )
    ).rows.map(({ name }) => name)
  return {
    place: { store: 'postgres', at: server.url },
    async sample() {
      const counts = (await tables()).map((name) => {
        const where = name === 'instance' ? `WHERE ${ALL_BUT_ENDED_INSTANCES}` : ''
        return `(SELECT count(*) FROM jobmill.${pg.escapeIdentifier(name)} ${where})`
      })
      return {
        rows: await number(`SELECT ${counts.join(' + ')} AS n`),
        size: await number(
          `SELECT sum(pg_total_relation_size(oid)) AS n FROM pg_class
            WHERE relnamespace = 'jobmill'::regnamespace AND relkind = 'r'`,
        ),
      }
    },
    async trouble() {
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
    },
    async close() {
      await client.end()
      await server.stop()
    },
  }
}
