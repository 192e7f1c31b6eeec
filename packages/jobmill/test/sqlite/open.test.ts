// Opening a file: options, versions, pragmas, migrations, and files that will not do.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { assert, describe, expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite.ts'
import { openConnection } from '../../src/store-sqlite/connection.ts'
import { migrate, MIGRATIONS } from '../../src/store-sqlite/migrate.ts'
import { versionProblem } from '../../src/store-sqlite/sqlite-version.ts'
import { migration } from '../../src/store/migrations.ts'
import { aJob, anInstance, aPulse } from '../../src/testing/factories.ts'
import { freshFile, openStore } from './support.ts'

describe('sqlite options', () => {
  test('refuses what it does not know, with the nearest name', () => {
    expect(() => sqlite('jobs.db', { durabilty: 'full' } as object)).toThrow(/Did you mean "durability"/)
    expect(() => sqlite('jobs.db', { durability: 'most' } as object)).toThrow(/must be full or relaxed/)
    expect(() => sqlite('jobs.db', { busyDeadline: 'soon' })).toThrow(/is not a duration/)
    expect(() => sqlite('')).toThrow(/must be the path of a file/)
  })

  test('tells its name', () => {
    assert.equal(sqlite('jobs.db').name, 'sqlite jobs.db')
  })
})

describe('versions of SQLite', () => {
  test.for(['3.51.3', '3.51.10', '3.53.4', '4.0.0', '3.52'])('%s will do', (version) => {
    assert.isNull(versionProblem(version))
  })

  test.for(['3.51.2', '3.45.1', '3.9', '2.99.99', '3.51', 'trunk'])('%s is refused', (version) => {
    assert.isString(versionProblem(version))
  })
})

describe('settings of a sqlite connection', () => {
  test.for([
    ['full', 2],
    ['relaxed', 1],
  ] as const)('durability %s is synchronous %i, also on a file that exists', ([durability, synchronous]) => {
    const path = freshFile()
    openConnection(path, durability).close()
    const connection = openConnection(path, durability)
    const pragma = (name: string): unknown =>
      Object.values(connection.prepare(`PRAGMA ${name}`).get() as object)[0]
    assert.equal(pragma('journal_mode'), 'wal')
    assert.equal(pragma('synchronous'), synchronous)
    assert.isAtMost(pragma('busy_timeout') as number, 5)
    assert.isAbove(pragma('journal_size_limit') as number, 0)
    connection.close()
  })
})

describe('opening sqlite', () => {
  test('in memory, for one store', async () => {
    const store = await openStore(':memory:')
    await store.enqueue([aJob()])
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('close during open leaves nothing open, and the store can be opened again', async () => {
    const store = sqlite(freshFile())
    const opening = store.open()
    await store.close()
    await opening
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await store.open()
    assert.deepEqual(await store.counts(), [])
    await store.close()
  })

  test('a folder that does not exist', async () => {
    await expect(openStore(join(dirname(freshFile()), 'nowhere', 'jobs.db'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      fix: expect.stringContaining('Create the folder') as string,
    })
  })

  test('a file that is no database', async () => {
    const path = freshFile()
    writeFileSync(path, 'a letter to Ada, long enough to be taken for a page of something')
    await expect(openStore(path)).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' })
  })

  test("lives in a file that has the user's own tables", async () => {
    const path = freshFile()
    const db = new Database(path)
    db.exec("CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('Ada')")
    const store = await openStore(path)
    await store.enqueue([aJob()])
    assert.deepEqual(db.prepare('SELECT name FROM person').all(), [{ name: 'Ada' }])
    db.close()
  })
})

describe('sqlite migrations', () => {
  test('a database of a newer release is refused, and says what to do', async () => {
    const path = freshFile()
    await (await openStore(path)).close()
    const db = new Database(path)
    db.exec(`INSERT INTO jobmill_migration VALUES (99, 'later', 'x', 0)`)
    db.close()
    await expect(openStore(path)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      fix: expect.stringContaining('Install the release') as string,
    })
  })

  test('a migration that was edited after it was applied is refused', async () => {
    const path = freshFile()
    await (await openStore(path)).close()
    const db = new Database(path)
    db.exec(`UPDATE jobmill_migration SET checksum = 'x'`)
    db.close()
    await expect(openStore(path)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' })
  })

  test('one that fails leaves nothing behind', () => {
    const connection = openConnection(freshFile(), 'full')
    const broken = migration(MIGRATIONS.length + 1, 'broken', 'CREATE TABLE half (a); CREATE TABLE half (a)')
    expect(() => migrate(connection, 0, [...MIGRATIONS, broken])).toThrow(/already exists/)
    const tables = connection.prepare(`SELECT count(*) AS n FROM sqlite_schema`).get()
    assert.deepEqual(tables, { n: 0 })
    connection.close()
  })
})

describe('a sqlite file that is deleted or replaced while it is open', () => {
  test.for([
    ['deleted', (file: string) => rmSync(file)],
    ['replaced', (file: string) => (renameSync(file, `${file}.old`), writeFileSync(file, ''))],
  ] as const)('P16 %s: the pulse says so, instead of working where nobody else does', async ([, harm]) => {
    const file = freshFile()
    const store = await openStore(file)
    const instance = anInstance()
    await store.register(instance)
    assert.isTrue((await store.renew(aPulse(instance.id))).alive)
    harm(file)
    await expect(store.renew(aPulse(instance.id))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('deleted or replaced') as string,
    })
  })
})
