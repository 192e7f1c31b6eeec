/**
 * Both stores for the upgrade tests: creates an empty place, restores a stored database, and dumps everything
 * as a script.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { inject } from 'vitest'
import { freshFile, freshSchema } from '../../support/databases.ts'
import { dumpPostgres, restorePostgres } from './postgres-dump.ts'
import { type Place, RELEASES } from '../releases/release.ts'
import type { Snapshot } from './snapshot.ts'
import { dumpSqlite, restoreSqlite } from './sqlite-dump.ts'

interface RestoredDatabase {
  readonly place: Place
  readonly expected: Snapshot
}

export interface StorePlaces {
  readonly empty: () => Place
  /** Restores the stored database of a release. */
  readonly restore: (version: string) => Promise<RestoredDatabase>
  readonly dump: (place: Place) => Promise<string>
  /** Expires the lease of an instance at once. */
  readonly expire: (place: Place, instance: string) => Promise<void>
}

const read = (version: string, file: string): string => readFileSync(join(RELEASES, version, file), 'utf8')

const emptyFile = (): Place => ({ store: 'sqlite', at: freshFile() })

function sqlite(): StorePlaces {
  return {
    empty: emptyFile,
    async restore(version) {
      const place = emptyFile()
      restoreSqlite(place.at, read(version, 'sqlite.sql'))
      return { place, expected: JSON.parse(read(version, 'sqlite.json')) as Snapshot }
    },
    dump: async ({ at }) => dumpSqlite(at),
    async expire({ at }, instance) {
      const database = new Database(at, { timeout: 10_000 })
      database.prepare('UPDATE jobmill_instance SET expires_at = 1 WHERE id = ?').run(instance)
      database.close()
    },
  }
}

function postgres(): StorePlaces {
  const url = inject('postgresUrl')
  const freshPlace = (): { store: 'postgres'; at: string; schema: string } => {
    return { store: 'postgres', at: url, schema: freshSchema(url, 'upgrade') }
  }
  return {
    empty: freshPlace,
    async restore(version) {
      const place = freshPlace()
      await restorePostgres(url, place.schema, read(version, 'postgres.sql'))
      return { place, expected: JSON.parse(read(version, 'postgres.json')) as Snapshot }
    },
    dump: ({ at, schema = '' }) => dumpPostgres(at, schema),
    async expire({ at, schema = '' }, instance) {
      const client = new pg.Client({ connectionString: at })
      await client.connect()
      await client.query(`UPDATE ${schema}.instance SET expires_at = 1 WHERE id = $1`, [instance])
      await client.end()
    },
  }
}

export const STORES: [string, StorePlaces][] = [
  ['sqlite', sqlite()],
  ['postgres', postgres()],
]
