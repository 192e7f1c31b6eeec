/** Checks whether a database is usable, without creating or changing anything. */
import { access, constants, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import pg from 'pg'
import { placeOf } from './place.ts'
import { checkEncoding, TYPES } from './postgres-client.ts'

const CONNECT_MS = 10_000
/** The header of every SQLite file. An empty file is also valid: SQLite fills it on first use. */
const HEADER = Buffer.from('SQLite format 3\0')

/**
 * Returns `made` if the SQLite file or the PostgreSQL schema exists, `missing` if the first start would
 * create it. Rejects with the reason and the fix.
 */
export async function checkPlace(address: string): Promise<'made' | 'missing'> {
  const place = placeOf(address)
  if (place.type === 'sqlite') return checkFile(place.file)
  return withClient(place.url, async (client) => {
    await checkEncoding(client)
    const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [place.schema])
    return rows.length > 0 ? 'made' : 'missing'
  })
}

/** Runs queries on a connection of their own. Rejects with the reason and the fix. */
export async function withClient<R>(url: string, act: (client: pg.Client) => Promise<R>): Promise<R> {
  const { postgresError } = await import('jobmill/postgres')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, types: TYPES })
  client.on('error', () => {})
  try {
    await client.connect()
    return await act(client)
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

/** Reads the bytes directly, because opening the file with SQLite would create its WAL files. */
async function beginningOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
