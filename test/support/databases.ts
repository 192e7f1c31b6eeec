// Places for the stores of one test file: a schema name, or a path for a SQLite file, that nobody else uses.
// Whatever was made there is removed when the file's tests are done, after the file's own `afterAll` hooks.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { atFileEnd } from './file-end.ts'
import { complain } from './leaks/complain.ts'
import { aliveInFile, aliveInSchema } from './leaks/instance-rows.ts'

const schemas: { url: string; name: string }[] = []
const files: string[] = []

/** A schema name that is free; creating it is left to the store, dropping it to us. */
export function freshSchema(url: string, prefix = 'test'): string {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  atFileEnd(removeAll)
  schemas.push({ url, name })
  return name
}

/** The path of a SQLite file that does not exist yet, in a folder of its own (for -wal and -shm too). */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-sqlite-'))
  const file = join(folder, 'jobs.db')
  atFileEnd(removeAll)
  files.push(file)
  return file
}

/** Returns what stopped mills have left in it. */
async function dropSchema(url: string, name: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
  } catch (error) {
    // A test that had a server of its own has stopped it by now, and its data is gone with it.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return []
    throw error
  }
  try {
    // A connection that a test forgot may hold locks: then fail here with a clear message, do not hang.
    await client.query(`set lock_timeout = '5s'`)
    const left = await aliveInSchema(client, name)
    // And those of applications, which are called after it.
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
