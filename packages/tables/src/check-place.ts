/** Whether a database can be had, for who only looks: nothing is made, and nothing is changed. */
import { access, constants, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import pg from 'pg'
import { placeOf } from './place.ts'

const CONNECT_MS = 10_000
/** How every file of SQLite begins; one that is empty becomes one. */
const HEADER = Buffer.from('SQLite format 3\0')

/** `made`: it is there; otherwise it would be made at the first start. Rejects with the reason and the fix. */
export async function checkPlace(address: string): Promise<'made' | 'missing'> {
  const place = placeOf(address)
  if (place.type === 'sqlite') return checkFile(place.file)
  const { postgresError } = await import('jobmill/postgres')
  const client = new pg.Client({ connectionString: place.url, connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [place.schema])
    return rows.length > 0 ? 'made' : 'missing'
  } catch (error) {
    throw postgresError(error, { sent: false })
  } finally {
    await client.end().catch(() => {})
  }
}

async function checkFile(file: string): Promise<'made' | 'missing'> {
  const { sqliteError } = await import('jobmill/sqlite')
  const refused = (code: string): unknown => sqliteError(Object.assign(new Error(code), { code }), file)
  if (file === ':memory:') return 'missing'
  const found = await stat(file).catch(() => null)
  if (found === null) {
    const folder = dirname(file)
    if ((await stat(folder).catch(() => null))?.isDirectory() !== true)
      throw sqliteError(new TypeError('directory does not exist'), file)
    if (!(await isWritable(folder))) throw refused('SQLITE_CANTOPEN')
    return 'missing'
  }
  if (!found.isFile()) throw refused('SQLITE_CANTOPEN')
  if (!(await isWritable(file))) throw refused('SQLITE_READONLY')
  if (found.size > 0 && !(await beginningOf(file)).equals(HEADER)) throw refused('SQLITE_NOTADB')
  return 'made'
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** By its bytes, since SQLite itself makes files beside one that it opens. */
async function beginningOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
