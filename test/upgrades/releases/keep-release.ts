/**
 * `npm run keep-release`: stores a database of each store for the upgrade tests, filled by the current code,
 * under the version of packages/jobmill. Run it after each schema change until that version is published, and
 * then once with `--code`, which also stores the code.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../support/postgres/postgres-server.ts'
import { bundle } from './bundle.ts'
import { fill } from '../databases/fill.ts'
import { dumpPostgres } from '../databases/postgres-dump.ts'
import { type Place, RELEASES, loadCurrent } from './release.ts'
import { snapshot } from '../databases/snapshot.ts'
import { dumpSqlite } from '../databases/sqlite-dump.ts'

async function keepDatabase(place: Place, target: string, dump: () => Promise<string>): Promise<void> {
  const release = await loadCurrent()
  const store = await release.storeAt(place)
  await store.open()
  try {
    const roles = await fill(release, store)
    const file = join(target, place.store)
    writeFileSync(`${file}.json`, `${JSON.stringify(await snapshot(store, roles), null, 2)}\n`)
    writeFileSync(`${file}.sql`, await dump())
  } finally {
    await store.close()
  }
}

const manifest = fileURLToPath(new URL('../../../packages/jobmill/package.json', import.meta.url))
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
const target = join(RELEASES, version)
mkdirSync(target, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'jobmill-release-'))
const server = await startPostgres({ binaries: 'current' })
try {
  const file = join(folder, 'jobs.db')
  await keepDatabase({ store: 'sqlite', at: file }, target, async () => dumpSqlite(file))
  const place = { store: 'postgres', at: server.url, schema: 'jobmill' } as const
  await keepDatabase(place, target, () => dumpPostgres(place.at, place.schema))
  if (process.argv.includes('--code')) await bundle(join(target, 'code'))
  console.log(`keep-release: kept ${version} in test/fixtures/releases/${version}`)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
