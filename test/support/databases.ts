// Provides places for the stores of one test file: an unused schema name, or a path for a SQLite file. They
// are removed at the end of the file, after its own `afterAll` hooks; schemas on a server of this run are
// removed with the server.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { atFileEnd } from './suite/file-end.ts'
import { inFull } from './suite/in-full.ts'
import { complain } from './leaks/complain.ts'
import { aliveInFile, aliveInSchema } from './leaks/instance-rows.ts'

const schemas: { url: string; name: string }[] = []
const files: string[] = []

/**
 * Dropping a schema costs as much as creating it. A server of this run is removed with its schemas, and only
 * in full size they are too large to stay until then.
 */
const DROPS = inFull(
  true,
  Boolean(process.env['TEST_DATABASE_URL']) || Boolean(process.env['TEST_DATABASE_URL_OLD']),
)

/** An unused schema name. The store creates the schema; this module drops it. */
export function freshSchema(url: string, prefix = 'test'): string {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  atFileEnd(removeAll)
  schemas.push({ url, name })
  return name
}

/** The path of a SQLite file that does not exist yet, in its own folder (also for -wal and -shm). */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-sqlite-'))
  const file = join(folder, 'jobs.db')
  atFileEnd(removeAll)
  files.push(file)
  return file
}

/** Returns the problems that stopped mills have left in it. */
async function dropSchema(url: string, name: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
  } catch (error) {
    // A test with its own server has stopped it by now and removed its data.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return []
    throw error
  }
  try {
    // A connection that a test left open may hold locks: fail with a clear message instead of hanging.
    await client.query(`set lock_timeout = '5s'`)
    const left = await aliveInSchema(client, name)
    if (!DROPS) return left
    // Also drop the schemas of applications, whose names start with this one.
    const { rows } = await client.query<{ nspname: string }>(
      `select nspname from pg_namespace where nspname = $1 or starts_with(nspname, $1 || '_')`,
      [name],
    )
    for (const { nspname } of rows) await client.query(`drop schema ${pg.escapeIdentifier(nspname)} cascade`)
    return left
  } finally {
    await client.end()
  }
}

async function removeAll(): Promise<void> {
  const paths = files.splice(0)
  const inFiles = paths.flatMap(aliveInFile)
  for (const file of paths) rmSync(dirname(file), { recursive: true, force: true })
  const inSchemas = await Promise.all(schemas.splice(0).map(({ url, name }) => dropSchema(url, name)))
  complain('this file', [...inFiles, ...inSchemas.flat()])
}
