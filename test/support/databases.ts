// Places for the stores of one test file: a schema name, or a path for a SQLite file, that nobody else uses.
// Whatever was made there is removed when the file's tests are done, after the file's own `afterAll` hooks.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll } from 'vitest'

const schemas: { url: string; name: string }[] = []
const folders: string[] = []

/** A schema name that is free; creating it is left to the store, dropping it to us. */
export function freshSchema(url: string, prefix = 'test'): string {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  schemas.push({ url, name })
  return name
}

/** The path of a SQLite file that does not exist yet, in a folder of its own (for -wal and -shm too). */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-sqlite-'))
  folders.push(folder)
  return join(folder, 'jobs.db')
}

async function dropSchema(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
  } catch (error) {
    // A test that had a server of its own has stopped it by now, and its data is gone with it.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return
    throw error
  }
  try {
    // A connection that a test forgot may hold locks: then fail here with a clear message, do not hang.
    await client.query(`set lock_timeout = '5s'`)
    await client.query(`drop schema if exists ${pg.escapeIdentifier(name)} cascade`)
  } finally {
    await client.end()
  }
}

// Hooks run last in, first out, and this one is registered on import: before any of the test file's.
afterAll(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  await Promise.all(schemas.splice(0).map(({ url, name }) => dropSchema(url, name)))
})
