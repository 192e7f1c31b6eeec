/** Creating the database itself. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { queryAt } from './sites.ts'

const url = inject('postgresUrl')

/** The URL of a database that is dropped at the end of the test. */
function databaseCalled(name: string): string {
  onTestFinished(
    async () =>
      void (await queryAt(url, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`)),
  )
  const there = new URL(url)
  there.pathname = `/${encodeURIComponent(name)}`
  return there.href
}

const isDatabase = async (name: string): Promise<boolean> =>
  (await queryAt(url, `SELECT FROM pg_database WHERE datname = ${pg.escapeLiteral(name)}`)).length === 1

describe('create on sqlite', () => {
  test('creates the file, once; open creates the tables', async () => {
    const file = freshFile()
    const { tools } = sqlite(file)
    expect(await tools.create()).toBe(true)
    expect(existsSync(file)).toBe(true)
    expect(await tools.create()).toBe(false)
    expect(await tools.schema()).toMatchObject({ isThere: false })
  })

  test('reports a missing folder', async () => {
    const file = path.join(path.dirname(freshFile()), 'nowhere/jobs.db')
    await expect(sqlite(file).tools.create()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await sqlite(':memory:').tools.create()).toBe(false)
    expect(existsSync(':memory:')).toBe(false)
  })
})

describe('create on postgres', () => {
  test('creates the database, with any name, and the store opens it', async () => {
    const name = `${freshSchema(url, 'odd')} "it's" DROP TABLE`
    const store = postgres(databaseCalled(name), { notifier: false })
    onTestFinished(() => store.close())
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    expect(await store.tools.create()).toBe(true)
    expect(await isDatabase(name)).toBe(true)
    expect(await store.tools.create()).toBe(false)
    await store.open()
    expect(await store.counts()).toEqual([])
  })

  test('several calls at once create one, and none of them fails', async () => {
    const name = freshSchema(url, 'many')
    const there = databaseCalled(name)
    const answers = await Promise.all([1, 2, 3].map(() => postgres(there).tools.create()))
    expect(answers).toContain(true)
    expect(await isDatabase(name)).toBe(true)
  })

  test('creates the schema in an existing database', async () => {
    const schema = freshSchema(url, 'made')
    const { tools } = postgres(url, { schema })
    expect(await tools.create()).toBe(true)
    expect(await queryAt(url, `SELECT FROM pg_namespace WHERE nspname = '${schema}'`)).toHaveLength(1)
    expect(await tools.create()).toBe(false)
  })

  test('reports the missing privilege of the user', async () => {
    const role = freshSchema(url, 'weak')
    await queryAt(url, `CREATE ROLE ${role} LOGIN`)
    onTestFinished(async () => void (await queryAt(url, `DROP ROLE ${role}`)))
    const there = new URL(databaseCalled(freshSchema(url, 'denied')))
    there.username = role
    await expect(postgres(there.href).tools.create()).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      fix: expect.stringContaining('CREATEDB') as string,
    })
  })
})
