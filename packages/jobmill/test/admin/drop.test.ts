/** Dropping what Jobmill has created, and nothing else. */
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { atFileEnd } from '../../../../test/support/suite/file-end.ts'
import { buildNextRelease } from '../../../../test/upgrades/releases/next-release.ts'
import { sqlite } from '../../src/sqlite.ts'
import { aJob, anInstance } from '../../../conformance/src/factories.ts'
import { ALL, migrated, postgresSite, queryAt } from './sites.ts'

const NOBODY = { alive: [] }

let next = ''
beforeAll(async () => {
  next = await buildNextRelease(atFileEnd)
})

describe.each(ALL)('drop on $name', (sites) => {
  test('drops everything that was created, and the store starts empty', async () => {
    const { store, contents } = await migrated(sites)
    await store.open()
    await store.enqueue([aJob()])
    await store.close()
    expect(await store.tools.drop()).toEqual(NOBODY)
    expect(await contents()).toEqual([])
    expect(await store.tools.schema()).toMatchObject({ isThere: false })
    expect(await store.tools.drop()).toEqual(NOBODY)
    await store.open()
    expect(await store.counts()).toEqual([])
  })

  test('drops everything that an earlier release created', async () => {
    const { store, contents, run } = await sites.older(next)
    // A table of the user, with a name that a later migration would use.
    const isTaken = sites.name === 'postgres'
    if (isTaken) await run('CREATE TABLE TABLE:note (id int)')
    expect(await store.tools.drop()).toEqual(NOBODY)
    expect(await contents()).toEqual(isTaken ? ['note'] : [])
  })

  test('keeps foreign objects', async () => {
    const { store, contents, run } = await migrated(sites)
    await run('CREATE TABLE TABLE:mine (id int)')
    await run('CREATE VIEW TABLE:my_view AS SELECT id FROM TABLE:mine')
    expect(await store.tools.drop()).toEqual(NOBODY)
    expect((await contents()).map((name) => name.replace('jobmill_', ''))).toEqual(['mine', 'my_view'])
  })

  test('drops nothing if a foreign object depends on it, and names that object', async () => {
    const { store, contents, run } = await migrated(sites)
    await run('CREATE VIEW TABLE:report AS SELECT count(*) AS n FROM TABLE:attempt')
    const before = await contents()
    await expect(store.tools.drop()).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringContaining('report') as string,
    })
    expect(await contents()).toEqual(before)
  })

  test('drops nothing while an instance is alive, and names it', async () => {
    const { store, contents } = await migrated(sites)
    const [one, other] = [anInstance({ label: 'acme-worker' }), anInstance()]
    await store.open()
    await store.instances.register(one)
    await store.instances.register(other)
    const before = await contents()
    expect((await store.tools.drop()).alive.toSorted()).toEqual(['acme-worker', other.id].toSorted())
    expect(await contents()).toEqual(before)
    await store.instances.deregister(one.id)
    await store.instances.deregister(other.id)
    await store.close()
    expect(await store.tools.drop()).toEqual(NOBODY)
    expect(await contents()).toEqual([])
  })

  test('drops nothing of a newer release, which may have created more', async () => {
    const { store, contents, run } = await migrated(sites)
    await run(`INSERT INTO TABLE:migration (number, name, checksum, applied_at) VALUES (99, 'later', 'x', 0)`)
    const before = await contents()
    await expect(store.tools.drop()).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
    expect(await contents()).toEqual(before)
  })
})

describe('drop on postgres', () => {
  const url = inject('postgresUrl')
  const isSchema = async (name: string): Promise<boolean> =>
    (await queryAt(url, `SELECT FROM pg_namespace WHERE nspname = '${name}'`)).length === 1

  test('drops the schema if nothing is left in it, and keeps it otherwise', async () => {
    const schema = freshSchema(url, 'keep')
    const { store, run } = postgresSite(url, schema)
    await store.open()
    await store.close()
    await run('CREATE TABLE TABLE:mine (id int)')
    await store.tools.drop()
    expect(await isSchema(schema)).toBe(true)
    await run('DROP TABLE TABLE:mine')
    await store.open()
    await store.close()
    await store.tools.drop()
    expect(await isSchema(schema)).toBe(false)
  })
})

describe('drop on sqlite', () => {
  test('keeps the file, small, for connections that have it open, and creates none', async () => {
    const path = freshFile()
    expect(await sqlite(path).tools.drop()).toEqual(NOBODY)
    expect(existsSync(path)).toBe(false)
    const store = sqlite(path)
    await store.open()
    await store.close()
    await store.tools.drop()
    expect(existsSync(path)).toBe(true)
  })
})
