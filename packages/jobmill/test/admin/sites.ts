/** A database of each kind that a test may damage, with its store. */
import Database from 'better-sqlite3'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { STORES } from '../../../../test/upgrades/databases/places.ts'
import { loadBundle } from '../../../../test/upgrades/releases/release.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { ToolStore } from '../../src/store/store.ts'

export interface TestSite {
  /** Closed, and closed again at the end of the test. */
  readonly store: ToolStore<never>
  /** Runs a statement on its own connection; `TABLE:job` is replaced by our table. */
  readonly run: (text: string) => Promise<readonly Record<string, unknown>[]>
  /** Runs several statements. */
  readonly runScript: (text: string) => Promise<unknown>
  /** All objects in the database, ours or not. */
  readonly contents: () => Promise<string[]>
}

export interface TestSites {
  readonly name: 'sqlite' | 'postgres'
  readonly empty: () => TestSite
  /** A database of the current release, with the store of the release after it. */
  readonly older: (next: string) => Promise<TestSite>
}

export async function migrated(sites: TestSites): Promise<TestSite> {
  const site = sites.empty()
  await site.store.open()
  await site.store.close()
  return site
}

function closedAtTheEnd(store: ToolStore<never>): ToolStore<never> {
  onTestFinished(() => store.close())
  return store
}

function sqliteSite(path = freshFile()): TestSite {
  const run: TestSite['run'] = async (text) => {
    const database = new Database(path)
    try {
      const statement = database.prepare(text.replaceAll('TABLE:', 'jobmill_'))
      return statement.reader ? (statement.all() as Record<string, unknown>[]) : (statement.run(), [])
    } finally {
      database.close()
    }
  }
  return {
    store: closedAtTheEnd(sqlite(path)),
    run,
    runScript: async (text) => {
      const database = new Database(path)
      database.exec(text)
      database.close()
    },
    contents: async () =>
      (await run('SELECT name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1')).map((row) =>
        String(row['name']),
      ),
  }
}

export async function queryAt(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const CONTENTS = `
  SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('SCHEMA') AND relkind IN ('r', 'S', 'v')
  UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace('SCHEMA') ORDER BY 1`

export function postgresSite(url = inject('postgresUrl'), schema = freshSchema(url, 'keep')): TestSite {
  const run: TestSite['run'] = (text) => queryAt(url, text.replaceAll('TABLE:', `${schema}.`))
  return {
    store: closedAtTheEnd(postgres(url, { schema, notifier: false })),
    run,
    runScript: (text) => queryAt(url, text),
    contents: async () =>
      (await run(CONTENTS.replaceAll('SCHEMA', schema))).map((row) => String(row['name'])),
  }
}

async function older(name: TestSites['name'], next: string): Promise<TestSite> {
  const empty = new Map(STORES).get(name)?.empty()
  const place = empty ?? { store: name, at: '' }
  const { at, schema = '' } = place
  const site = name === 'sqlite' ? sqliteSite(at) : postgresSite(at, schema)
  await site.store.open()
  await site.store.close()
  const store = (await (await loadBundle(next)).storeAt(place)) as ToolStore<never>
  return { ...site, store: closedAtTheEnd(store) }
}

export const ALL: readonly TestSites[] = [
  { name: 'sqlite', empty: () => sqliteSite(), older: (next) => older('sqlite', next) },
  { name: 'postgres', empty: () => postgresSite(), older: (next) => older('postgres', next) },
]
