/**
 * `npm run keep-release -- COMMIT`: keeps a release for the tests of upgrades. Its code goes to test/fixtures/releases/, and a database of each store, filled by
 * that code, to test/fixtures/schemas/, both under the number of its last migration: the higher of the two, where a store has more of them.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { startPostgres } from '../support/postgres-server.ts'
import { bundle } from './bundle.ts'
import { fill } from './fill.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { earlier, type Place, type Release, RELEASES, SCHEMAS } from './release.ts'
import { snapshot } from './snapshot.ts'
import { dumpSqlite } from './sqlite-dump.ts'

async function keep(commit: string, folder: string): Promise<number> {
  // Beside its place in the end: from there the drivers are found too.
  mkdirSync(RELEASES, { recursive: true })
  const fresh = mkdtempSync(join(RELEASES, 'new-'))
  const server = await startPostgres({ binaries: 'current' })
  try {
    await bundle(commit, fresh)
    const release = await earlier(fresh)
    const file = join(folder, 'jobs.db')
    const place = { store: 'postgres', at: server.url, schema: 'jobmill' } as const
    const schema = Math.max(await sqliteSchema(release, file), await postgresSchema(release, place))
    mkdirSync(join(SCHEMAS, String(schema)), { recursive: true })
    await keepSchema(release, schema, { store: 'sqlite', at: file }, async () => dumpSqlite(file))
    await keepSchema(release, schema, place, () => dumpPostgres(place.at, place.schema))
    const kept = join(RELEASES, String(schema))
    rmSync(kept, { recursive: true, force: true })
    renameSync(fresh, kept)
    return schema
  } finally {
    await server.stop()
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Makes its tables. */
async function migrated(release: Release, place: Place): Promise<void> {
  const store = await release.storeAt(place)
  await store.open()
  await store.close()
}

async function sqliteSchema(release: Release, file: string): Promise<number> {
  await migrated(release, { store: 'sqlite', at: file })
  const database = new Database(file, { readonly: true })
  const schema = database.prepare('SELECT max(number) FROM jobmill_migration').pluck().get()
  database.close()
  return Number(schema)
}

async function postgresSchema(release: Release, place: Place): Promise<number> {
  await migrated(release, place)
  const client = new pg.Client({ connectionString: place.at })
  await client.connect()
  const { rows } = await client.query('SELECT max(number) AS schema FROM jobmill.migration')
  await client.end()
  return Number((rows as { readonly schema: number }[])[0]?.schema)
}

async function keepSchema(
  release: Release,
  schema: number,
  place: Place,
  dump: () => Promise<string>,
): Promise<void> {
  const store = await release.storeAt(place)
  await store.open()
  try {
    const roles = await fill(release, store, schema)
    const told = await snapshot(store, roles, schema)
    const file = join(SCHEMAS, String(schema), place.store)
    writeFileSync(`${file}.json`, `${JSON.stringify(told, null, 2)}\n`)
    writeFileSync(`${file}.sql`, await dump())
  } finally {
    await store.close()
  }
}

const [commit] = process.argv.slice(2)
if (commit === undefined) {
  console.error('keep-release: say which commit: npm run keep-release -- HEAD')
  process.exit(2)
}
const name = execFileSync('git', ['log', '-1', '--format=%h %s', commit], { encoding: 'utf8' }).trim()
const folder = mkdtempSync(join(tmpdir(), 'jobmill-release-'))
try {
  console.log(`keep-release: schema ${await keep(commit, folder)}, of ${name}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
