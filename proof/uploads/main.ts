/**
 * `npm run prove:uploads`: the upload inbox under load, on SQLite and PostgreSQL with blobs in a folder, and
 * a tenth of it with blobs in PostgreSQL. Many mailboxes get files, which consumers fetch and acknowledge
 * while the sweep deletes them. Every fetched file must be unchanged, and no row or blob may be left over.
 * Then 100 parallel uploads of 20 MB must stay under 200 MB.
 *
 *   npm run prove:uploads -- [--files 20000] [--mailboxes 500] [--only sqlite|postgres|blobs|memory]
 *     [--json FILE]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { closers, interrupted } from '../closing.ts'
import { load, type LoadReport } from './load.ts'
import { memoryUnder, type MemoryReport } from './memory.ts'
import type { Place } from './start-server.ts'
import { type Proven, tell } from './tell.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '20000' },
    mailboxes: { type: 'string', default: '500' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
})
const size = { files: Number(values.files), mailboxes: Number(values.mailboxes) }
const tenth = { files: Math.ceil(size.files / 10), mailboxes: Math.ceil(size.mailboxes / 10) }
const closing = closers('prove:uploads')
const PARTS = ['sqlite', 'postgres', 'blobs', 'memory']
if (values.only !== undefined && !PARTS.includes(values.only)) {
  console.error(`prove:uploads: --only is one of ${PARTS.join(', ')}`)
  process.exit(2)
}
const isMeant = (name: string): boolean => values.only === undefined || values.only === name

const folder = mkdtempSync(path.join(tmpdir(), 'prove-uploads-'))
closing.add(async () => rmSync(folder, { recursive: true, force: true }))

async function prove(): Promise<Proven> {
  // Default settings: every commit is synced.
  const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
  closing.add(() => server.stop())
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  closing.add(() => client.end())
  let places = 0
  /** A separate database for each run. */
  async function place(
    name: string,
    store: 'sqlite' | 'postgres',
    blobs: 'folder' | 'postgres',
  ): Promise<Place> {
    places += 1
    const at = path.join(folder, String(places))
    const url = new URL(server.url)
    url.pathname = `/run${places}`
    if (store === 'postgres') await client.query(`CREATE DATABASE run${places}`)
    return {
      name,
      database: store === 'sqlite' ? `${at}.db` : url.href,
      blobs: blobs === 'postgres' ? blobs : at,
    }
  }
  const onSqlite = () => place('SQLite, folder', 'sqlite', 'folder')
  const onPostgres = () => place('PostgreSQL, folder', 'postgres', 'folder')
  const inPostgres = () => place('PostgreSQL, in the database', 'postgres', 'postgres')

  const loads: LoadReport[] = []
  if (isMeant('sqlite')) loads.push(await load(await onSqlite(), size, closing))
  if (isMeant('postgres')) loads.push(await load(await onPostgres(), size, closing))
  if (isMeant('blobs')) loads.push(await load(await inPostgres(), tenth, closing))
  const memories: MemoryReport[] = []
  if (isMeant('memory'))
    for (const make of [onSqlite, onPostgres, inPostgres])
      // Also a tenth of the uploads, to see what grows with them.
      for (const uploads of [10, 100]) memories.push(await memoryUnder(await make(), uploads, closing))
  return { loads, memories }
}

try {
  const proven = await Promise.race([prove(), interrupted(new AbortController())])
  tell(proven, values.json)
  const { loads, memories } = proven
  const isWell = loads.every(({ wrong }) => wrong.length === 0) && memories.every((one) => one.isWell)
  console.log(
    isWell ? '\nEvery file arrived unchanged, and nothing is left.' : '\nSome checks failed: see above.',
  )
  process.exitCode = isWell ? 0 : 1
} catch (error) {
  console.error(`prove:uploads: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await closing.close()
}
process.exit()
