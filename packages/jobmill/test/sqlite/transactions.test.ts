// P10: enqueue and finish inside a transaction of the user, on the user's handle.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { assert, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { SqliteTx } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance } from '../../../conformance/src/factories.ts'
import { killAtEnd } from '../../../../test/support/programs/kill-at-end.ts'
import { freshFile, openStore } from './support.ts'

let path: string
let store: FullStore<SqliteTx>
let db: Database.Database

beforeEach(async () => {
  path = freshFile()
  store = await openStore(path)
  db = new Database(path)
  return () => void db.close()
})

describe('P10 sqlite: enqueue in a user transaction', () => {
  test('is written when the call returns, before any await', async () => {
    db.exec('BEGIN')
    const reply = store.enqueue([aJob()], { tx: db })
    assert.equal(db.prepare('SELECT count(*) FROM jobmill_job').pluck().get(), 1)
    db.exec('COMMIT')
    assert.equal((await reply)[0]?.outcome, 'enqueued')
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('works inside the transaction function of the driver', async () => {
    db.exec('CREATE TABLE person (name TEXT)')
    const replies: Promise<unknown>[] = []
    db.transaction(() => {
      db.exec(`INSERT INTO person VALUES ('Ada')`)
      replies.push(store.enqueue([aJob()], { tx: db }))
    })()
    await Promise.all(replies)
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('a queue that was created in a rolled-back transaction is created again, and no job refers to the lost id', async () => {
    db.exec('BEGIN')
    await store.enqueue([aJob({ queue: 'lost', kind: 'lost' })], { tx: db })
    db.exec('ROLLBACK')
    await store.enqueue([aJob({ queue: 'other', kind: 'other' })])
    await store.enqueue([aJob({ queue: 'lost', kind: 'lost' })])
    expect(await store.counts()).toMatchObject([
      { queue: 'lost', ready: 1 },
      { queue: 'other', ready: 1 },
    ])
  })

  test('a call that fails leaves nothing in a transaction that continues', async () => {
    db.exec(
      "CREATE TEMP TRIGGER third BEFORE INSERT ON jobmill_job WHEN NEW.priority = 3 BEGIN SELECT RAISE(FAIL, 'no'); END",
    )
    db.exec('BEGIN')
    const jobs = [aJob(), aJob(), aJob({ priority: 3 })]
    await expect(store.enqueue(jobs, { tx: db })).rejects.toThrow('no')
    await store.enqueue([aJob()], { tx: db })
    db.exec('COMMIT')
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('accepts a handle that returns BigInt', async () => {
    db.defaultSafeIntegers(true)
    db.exec('BEGIN')
    await store.enqueue([aJob({ orderKey: 'a' }), aJob({ dedupe: { key: 'k' } })], { tx: db })
    db.exec('COMMIT')
    expect(await store.counts()).toMatchObject([{ ready: 1, scheduled: 1 }])
  })
})

describe('P10 sqlite: finish in a user transaction', () => {
  test('ends the job with the commit', async () => {
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue([aJob()])
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    const done = {
      id: lease.id,
      token: lease.token,
      transition: { to: 'done', result: '1' },
      outcome: 'returned',
    } as const
    db.exec('BEGIN')
    await store.finish([done], { tx: db })
    db.exec('ROLLBACK')
    expect(await store.get([lease.id])).toMatchObject([{ state: 'running' }])
    db.exec('BEGIN')
    await store.finish([done], { tx: db })
    db.exec('COMMIT')
    expect(await store.get([lease.id])).toMatchObject([{ state: 'done', result: '1' }])
  })
})

describe('P10 P13 sqlite: permits of a job that is finished in a user transaction', () => {
  test('are released with the commit', async () => {
    await store.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
    await store.queues.declare([{ name: 'limited', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'few' } }])
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue([aJob({ queue: 'limited' })])
    const [lease] = await store.claim(aClaim(instance.id, { queues: [{ queue: 'limited', room: 1 }] }))
    assert.isDefined(lease)
    const { id, token } = lease
    const done = { id, token, outcome: 'returned', transition: { to: 'done', result: null } } as const
    for (const [end, held] of [
      ['ROLLBACK', 1],
      ['COMMIT', 0],
    ] as const) {
      db.exec('BEGIN IMMEDIATE')
      await store.finish([done], { tx: db })
      db.exec(end)
      expect(await store.limits.list()).toMatchObject([{ held }])
    }
  })
})

describe('P10 sqlite: a transaction with an outdated snapshot', () => {
  test('D10 gets an error that says to use BEGIN IMMEDIATE, and not to retry', async () => {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM jobmill_job').get()
    await store.enqueue([aJob()])
    await expect(store.enqueue([aJob()], { tx: db })).rejects.toMatchObject({
      code: 'TX_INVALID',
      retryable: false,
      fix: expect.stringContaining('Roll it back and use BEGIN IMMEDIATE') as string,
    })
    db.exec('ROLLBACK; BEGIN IMMEDIATE')
    await store.enqueue([aJob()], { tx: db })
    db.exec('COMMIT')
    expect(await store.counts()).toMatchObject([{ ready: 2 }])
  })
})

describe('P10 sqlite: a transaction that cannot write', () => {
  test.for([['has read'], ['has not read']])(
    'D10 %s while another connection has the write lock: says to begin again',
    async ([what]) => {
      const other = new Database(path)
      other.exec('BEGIN IMMEDIATE')
      db.exec('BEGIN')
      if (what === 'has read') db.prepare('SELECT count(*) FROM jobmill_job').get()
      await expect(store.enqueue([aJob()], { tx: db })).rejects.toMatchObject({
        code: 'TX_INVALID',
        retryable: false,
        message: expect.stringContaining('another connection has the write lock') as string,
        fix: expect.stringContaining('Roll it back and use BEGIN IMMEDIATE') as string,
      })
      other.exec('COMMIT')
      other.close()
      db.exec('ROLLBACK; BEGIN IMMEDIATE')
      await store.enqueue([aJob()], { tx: db })
      db.exec('COMMIT')
      expect(await store.counts()).toMatchObject([{ ready: 1 }])
    },
  )

  test.for([
    ['opened as read-only', () => new Database(path, { readonly: true })],
    ['with query_only', () => (db.pragma('query_only = ON'), db)],
  ] as const)('D10 b a handle %s is named', async ([, open]) => {
    const handle = open()
    handle.exec('BEGIN')
    await expect(store.enqueue([aJob()], { tx: handle })).rejects.toMatchObject({
      code: 'TX_INVALID',
      retryable: false,
      message: expect.stringContaining('tx: is read-only') as string,
    })
    handle.exec('ROLLBACK')
    if (handle !== db) handle.close()
  })
})

function copied(): string {
  db.pragma('wal_checkpoint(TRUNCATE)')
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  return copy
}

describe('P10 sqlite: a handle that has another file open than the store', () => {
  const OTHER = {
    code: 'TX_INVALID',
    message: expect.stringContaining('a different database file') as string,
  }

  test.for(['BEGIN', 'BEGIN IMMEDIATE'])('D3 %s on a copy of the file is refused', async (begin) => {
    const other = new Database(copied())
    other.exec(begin)
    await expect(store.enqueue([aJob()], { tx: other })).rejects.toMatchObject(OTHER)
    other.close()
  })

  test.for(['BEGIN', 'BEGIN IMMEDIATE'])(
    'D3 %s on a file that was replaced before the store opened is refused',
    async (begin) => {
      await store.close()
      const copy = copied()
      for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      renameSync(copy, path)
      const later = await openStore(path)
      db.exec(begin)
      await expect(later.enqueue([aJob()], { tx: db })).rejects.toMatchObject(OTHER)
      db.exec('ROLLBACK')
      // Also while another process writes to the new file.
      const locks = `const db = require('better-sqlite3')(process.argv[1])
        db.exec('BEGIN IMMEDIATE')
        process.stdout.write('locked')
        setInterval(() => db.inTransaction, 1_000)`
      const writer = spawn(process.execPath, ['-e', locks, path], { cwd: import.meta.dirname })
      killAtEnd(writer)
      await once(writer.stdout, 'data')
      db.exec(begin)
      await expect(later.enqueue([aJob()], { tx: db })).rejects.toMatchObject(OTHER)
      db.exec('ROLLBACK')
    },
  )

  test('D3 the handle that opens the file again is accepted, and the write lock of the store is free', async () => {
    for (const begin of ['BEGIN', 'BEGIN IMMEDIATE']) {
      db.exec(begin)
      await store.enqueue([aJob()], { tx: db })
      db.exec('COMMIT')
      await store.enqueue([aJob()])
    }
    expect(await store.counts()).toMatchObject([{ ready: 4 }])
  })
})

/** As npm installs it when the app asks for another version of the driver than Jobmill. */
function secondCopyOfDriver(): typeof Database {
  const require = createRequire(import.meta.url)
  const installed = dirname(dirname(require.resolve('better-sqlite3')))
  const copy = join(dirname(freshFile()), 'better-sqlite3')
  cpSync(installed, copy, { recursive: true, filter: (from) => !/[\\/](?:deps|src)$/.test(from) })
  return require(copy) as typeof Database
}

describe('P10 sqlite: a handle of another copy of SQLite, whose locks do not exclude those of the store', () => {
  test.for([
    ['node:sqlite', () => new DatabaseSync(path)],
    ['a second copy of better-sqlite3', () => new (secondCopyOfDriver())(path)],
  ] as const)('D10 %s: is refused, and nothing is written', async ([, open]) => {
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue([aJob()])
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    const transition = { to: 'done', result: null } as const
    const done = { id: lease.id, token: lease.token, transition, outcome: 'returned' } as const
    const handle = open()
    handle.exec('BEGIN')
    const tx = handle as unknown as SqliteTx
    const refused = {
      code: 'TX_INVALID',
      retryable: false,
      message: expect.stringContaining(
        'was not opened with the copy of better-sqlite3 that the store uses',
      ) as string,
      fix: expect.stringContaining('Open it with the better-sqlite3 that Jobmill uses') as string,
    }
    await expect(store.enqueue([aJob()], { tx })).rejects.toMatchObject(refused)
    await expect(store.finish([done], { tx })).rejects.toMatchObject(refused)
    handle.exec('COMMIT')
    handle.close()
    expect(await store.counts()).toMatchObject([{ ready: 0, running: 1, done: 0 }])
  })
})

describe('P10 sqlite: the handle inside an ORM', () => {
  test('D10 Drizzle and Kysely on better-sqlite3 keep the given handle', async () => {
    const drizzled = drizzle({ client: db })
    const replies = drizzled.transaction(() => ({
      enqueued: store.enqueue([aJob()], { tx: drizzled.$client }),
    }))
    await replies.enqueued
    const kysely = new Kysely<Record<string, never>>({ dialect: new SqliteDialect({ database: db }) })
    await kysely.transaction().execute(async () => store.enqueue([aJob()], { tx: db }))
    expect(await store.counts()).toMatchObject([{ ready: 2 }])
  })
})

describe('sqlite: an invalid transaction', () => {
  test.for([[{}], [42], ['BEGIN'], [null], [() => {}]])('%s', async ([tx]) => {
    await expect(store.enqueue([aJob()], { tx: tx as SqliteTx })).rejects.toMatchObject({
      code: 'TX_INVALID',
    })
  })

  test('a handle without an open transaction', async () => {
    await expect(store.enqueue([aJob()], { tx: db })).rejects.toMatchObject({
      code: 'TX_INVALID',
      message: expect.stringContaining('has no open transaction') as string,
    })
    assert.deepEqual(await store.counts(), [])
  })

  test('a handle that is closed, or belongs to another database', async () => {
    const other = new Database(':memory:')
    other.exec('BEGIN')
    await expect(store.enqueue([aJob()], { tx: other })).rejects.toMatchObject({
      code: 'TX_INVALID',
      message: expect.stringContaining('same file') as string,
    })
    other.close()
    await expect(store.enqueue([aJob()], { tx: other })).rejects.toMatchObject({ code: 'TX_INVALID' })
  })
})
