/** Reads which migrations a database has, without changing it. */
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { atFileEnd } from '../../../../test/support/suite/file-end.ts'
import { buildNextRelease } from '../../../../test/upgrades/releases/next-release.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { ALL, migrated, queryAt } from './sites.ts'

const NUMBERS = [1]
const NOTHING = { isThere: false, applied: [], refused: null }
const numbers = (all: readonly { readonly number: number }[]): number[] => all.map(({ number }) => number)

let next = ''
beforeAll(async () => {
  next = await buildNextRelease(atFileEnd)
})

describe.each(ALL)('schema on $name', (sites) => {
  test('of an empty database is empty, and the check creates nothing', async () => {
    const { store, contents } = sites.empty()
    const status = await store.tools.schema()
    expect(status).toMatchObject(NOTHING)
    expect(numbers(status.pending)).toEqual(NUMBERS)
    expect(await contents()).toEqual([])
  })

  test('of a current database is complete, even while the store is open', async () => {
    const { store } = sites.empty()
    await store.open()
    expect(await store.tools.schema()).toMatchObject({ isThere: true, pending: [], refused: null })
    await store.close()
    const status = await store.tools.schema()
    expect(numbers(status.applied)).toEqual(NUMBERS)
    expect(status.applied[0]).toEqual({ number: 1, name: '0.1.0' })
  })

  test('as one SQL script creates what the migrations create', async () => {
    const { store, contents, runScript } = sites.empty()
    await runScript(store.tools.schemaSql())
    const status = await store.tools.schema()
    expect(status).toMatchObject({ isThere: true, pending: [], refused: null })
    expect(numbers(status.applied)).toEqual(NUMBERS)
    expect(await contents()).toEqual(await (await migrated(sites)).contents())
    // Compares columns, indexes, functions and triggers with the migrations.
    const parts = (await store.tools.diagnose()).filter(({ check }) => ['drift', 'index'].includes(check))
    expect(parts.map(({ level, message }) => [level, message])).toEqual([
      ['ok', expect.any(String)],
      ['ok', expect.any(String)],
    ])
  })

  test('of an older database lists the pending migrations, and applies none', async () => {
    const { store, contents } = await sites.older(next)
    const before = await contents()
    const status = await store.tools.schema()
    expect(status).toMatchObject({ isThere: true, refused: null })
    expect([numbers(status.applied), numbers(status.pending)]).toEqual([NUMBERS, [2]])
    expect(await contents()).toEqual(before)
  })

  test('of a newer database is refused, and so is one with changed migrations', async () => {
    const { store, run } = await migrated(sites)
    await run(`INSERT INTO TABLE:migration (number, name, checksum, applied_at) VALUES (99, 'later', 'x', 0)`)
    expect(await store.tools.schema()).toMatchObject({
      isThere: true,
      refused: expect.stringContaining('migration 99 (later) is unknown to the installed release') as string,
    })
    await run(`DELETE FROM TABLE:migration WHERE number = 99`)
    await run(`UPDATE TABLE:migration SET checksum = 'edited' WHERE number = 1`)
    expect((await store.tools.schema()).refused).toContain('was applied with different contents')
  })
})

describe('schema of a missing database', () => {
  test('sqlite: creates no file', async () => {
    const path = freshFile()
    expect(await sqlite(path).tools.schema()).toMatchObject(NOTHING)
    expect(existsSync(path)).toBe(false)
    expect(await sqlite(':memory:').tools.schema()).toMatchObject(NOTHING)
  })

  test('postgres: creates no database', async () => {
    const url = new URL(inject('postgresUrl'))
    const name = freshSchema(url.href, 'nowhere')
    url.pathname = `/${name}`
    expect(await postgres(url.href).tools.schema()).toMatchObject(NOTHING)
    const databases = await queryAt(
      inject('postgresUrl'),
      `SELECT FROM pg_database WHERE datname = '${name}'`,
    )
    expect(databases).toHaveLength(0)
  })

  test('an unreachable server is reported as such', async () => {
    const store = postgres('postgres://nobody@127.0.0.1:1/nothing', { deadline: '5s' })
    await expect(store.tools.schema()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(store.tools.diagnose()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})
