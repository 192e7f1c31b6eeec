/**
 * `npm run prove:uploads`: the upload inbox under load, in a process of its own: on SQLite and on PostgreSQL with blobs in a folder, and a tenth of it with
 * blobs in PostgreSQL. Many mailboxes are sent files, which their consumers fetch and acknowledge, while the sweep takes away what is done. Every file that was
 * fetched has to be the one that was sent, and afterwards there is no row and no blob too many. Then 100 uploads of 20 MB at once have to stay under 200 MB.
 *
 *   npm run prove:uploads -- [--files 20000] [--mailboxes 500] [--only sqlite|postgres|blobs|memory] [--json FILE]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { closers, interrupted } from '../closing.ts'
import { load, type LoadReport } from './load.ts'
import { memoryUnder, type MemoryReport } from './memory.ts'
import type { Place } from './start-server.ts'

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
const isMeant = (name: string): boolean => values.only === undefined || values.only === name

const folder = mkdtempSync(path.join(tmpdir(), 'prove-uploads-'))
closing.add(async () => rmSync(folder, { recursive: true, force: true }))

async function prove(): Promise<{ loads: LoadReport[]; memories: MemoryReport[] }> {
  // As it comes: every commit is synced.
  const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
  closing.add(() => server.stop())
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  closing.add(() => client.end())
  let places = 0
  /** A database of its own for each run. */
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
      // A tenth as well, to see what grows with them.
      for (const uploads of [10, 100]) memories.push(await memoryUnder(await make(), uploads, closing))
  return { loads, memories }
}

async function proveAndClose(): ReturnType<typeof prove> {
  try {
    return await Promise.race([prove(), interrupted(new AbortController())])
  } catch (error) {
    console.error(`prove:uploads: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
    return { loads: [], memories: [] }
  } finally {
    await closing.close()
  }
}

const { loads, memories } = await proveAndClose()
if (process.exitCode === 1) process.exit()
const memoryText = (memory: { mostMb: number } | null, other: number | undefined): string =>
  memory === null ? 'not told' : `${other} / ${memory.mostMb} MB`

if (loads.length > 0) {
  console.log(
    '\n| store, blobs | mailboxes | files | GB | time | uploads/s | MB/s | p50 | p99 | fetches/s | MB/s | p50 | p99 | acks/s | p99 | resident, median / most | load average |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|')
}
for (const { name, mailboxes, files, gigabytes, seconds, upload, fetch, ack, memory, loadAverage } of loads)
  console.log(
    `| ${name} | ${mailboxes} | ${files} | ${gigabytes} | ${seconds} s | ${upload.perSecond} | ${upload.megabytesPerSecond} | ${upload.p50Ms} ms | ${upload.p99Ms} ms | ${fetch.perSecond} | ${fetch.megabytesPerSecond} | ${fetch.p50Ms} ms | ${fetch.p99Ms} ms | ${ack.perSecond} | ${ack.p99Ms} ms | ${memoryText(memory, memory?.medianMb)} | ${loadAverage} |`,
  )
if (memories.length > 0) {
  console.log('\n| store, blobs | uploads of 20 MB at once | time | resident, before / most | load average |')
  console.log('|---|---|---|---|---|')
}
for (const { name, uploads, seconds, memory, loadAverage } of memories)
  console.log(
    `| ${name} | ${uploads} | ${seconds} s | ${memoryText(memory, memory?.idleMb)} | ${loadAverage} |`,
  )
for (const { name, wrong } of loads)
  for (const one of wrong.slice(0, 20)) console.log(`WRONG  ${name}: ${one}`)
for (const { name, isWell, memory } of memories)
  if (!isWell) console.log(`WRONG  ${name}: ${memory?.mostMb} MB resident, or a hash that differs`)
if (values.json !== undefined)
  writeFileSync(values.json, JSON.stringify({ cores: cpus().length, loads, memories }, null, 2))
const isWell = loads.every(({ wrong }) => wrong.length === 0) && memories.every((one) => one.isWell)
console.log(
  isWell
    ? '\nEvery file came as it was sent, and nothing is left.'
    : '\nSomething is not as it should be: it stands above.',
)
process.exit(isWell ? 0 : 1)
