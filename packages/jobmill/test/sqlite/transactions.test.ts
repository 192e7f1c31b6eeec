// P10: enqueue and finish inside a transaction of the user, on the user's handle.
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { assert, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue-settings.ts'
import type { SqliteTx } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance } from '../../src/testing/factories.ts'
import { freshFile, openStore } from './support.ts'

let path: string
let store: Store<SqliteTx>
let db: Database.Database

beforeEach(async () => {
  path = freshFile()
  store = await openStore(path)
  db = new Database(path)
  return () => void db.close()
})

describe('P10 sqlite: enqueue in a transaction of the user', () => {
  test('is written when the call returns, before anything is awaited', async () => {
    db.exec('BEGIN')
    const reply = store.enqueue([aJob()], { tx: db })
    assert.equal(db.prepare('SELECT count(*) FROM jobmill_job').pluck().get(), 1)
    db.exec('COMMIT')
    assert.equal((await reply)[0]?.outcome, 'enqueued')
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test("works inside the driver's own transaction function", async () => {
    db.exec('CREATE TABLE person (name TEXT)')
    const replies: Promise<unknown>[] = []
    db.transaction(() => {
      db.exec(`INSERT INTO person VALUES ('Ada')`)
      replies.push(store.enqueue([aJob()], { tx: db }))
    })()
    await Promise.all(replies)
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('a queue that was made in a transaction rolled back is made again, and nothing refers to the lost number', async () => {
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

  test('a call that fails leaves nothing of itself in a transaction that goes on', async () => {
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

  test('a handle that returns BigInt is understood', async () => {
    db.defaultSafeIntegers(true)
    db.exec('BEGIN')
    await store.enqueue([aJob({ orderKey: 'a' }), aJob({ dedupe: { key: 'k' } })], { tx: db })
    db.exec('COMMIT')
    expect(await store.counts()).toMatchObject([{ ready: 1, scheduled: 1 }])
  })
})

describe('P10 sqlite: finish in a transaction of the user', () => {
  test('ends the job with the commit', async () => {
    const instance = anInstance()
    await store.register(instance)
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

describe('P10 P13 sqlite: permits of a job that is finished in a transaction of the user', () => {
  test.for([
    ['better-sqlite3', (file: string) => new Database(file)],
    ['node:sqlite', (file: string) => new DatabaseSync(file)],
  ] as const)('come back with the commit: %s', async ([, open]) => {
    await store.declareLimits([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
    await store.declareQueues([{ name: 'limited', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'few' } }])
    const instance = anInstance()
    await store.register(instance)
    await store.enqueue([aJob({ queue: 'limited' })])
    const [lease] = await store.claim(aClaim(instance.id, { queues: [{ queue: 'limited', room: 1 }] }))
    assert.isDefined(lease)
    const { id, token } = lease
    const done = { id, token, outcome: 'returned', transition: { to: 'done', result: null } } as const
    const handle = open(path)
    for (const [end, held] of [
      ['ROLLBACK', 1],
      ['COMMIT', 0],
    ] as const) {
      handle.exec('BEGIN IMMEDIATE')
      await store.finish([done], { tx: handle })
      handle.exec(end)
      expect(await store.limits()).toMatchObject([{ held }])
    }
    handle.close()
  })
})

describe('P10 sqlite: a transaction that has read what is outdated by now', () => {
  test.for([
    ['better-sqlite3', (file: string) => new Database(file)],
    ['node:sqlite', (file: string) => new DatabaseSync(file)],
  ] as const)(
    'D10 %s: is told to begin again with BEGIN IMMEDIATE, and not to try again',
    async ([, open]) => {
      const handle = open(path)
      handle.exec('BEGIN')
      handle.prepare('SELECT count(*) FROM jobmill_job').get()
      await store.enqueue([aJob()])
      await expect(store.enqueue([aJob()], { tx: handle })).rejects.toMatchObject({
        code: 'TX_INVALID',
        retryable: false,
        fix: expect.stringContaining('Roll it back and use BEGIN IMMEDIATE') as string,
      })
      handle.exec('ROLLBACK; BEGIN IMMEDIATE')
      await store.enqueue([aJob()], { tx: handle })
      handle.exec('COMMIT')
      expect(await store.counts()).toMatchObject([{ ready: 2 }])
      handle.close()
    },
  )
})

describe('P10 sqlite: a handle of node:sqlite', () => {
  test('is a transaction too: committed with the data, rolled back with it', async () => {
    const path = freshFile()
    const file = await openStore(path)
    const db = new DatabaseSync(path)
    for (const [end, ready] of [
      ['ROLLBACK', 0],
      ['COMMIT', 1],
    ] as const) {
      db.exec('BEGIN IMMEDIATE')
      await file.enqueue([aJob()], { tx: db })
      db.exec(end)
      expect((await file.counts())[0]?.ready ?? 0).toBe(ready)
    }
    await expect(file.enqueue([aJob()], { tx: db })).rejects.toMatchObject({ code: 'TX_INVALID' })
    db.close()
  })
})

describe('sqlite: what is no transaction', () => {
  test.for([[{}], [42], ['BEGIN'], [null], [() => {}]])('%s', async ([tx]) => {
    await expect(store.enqueue([aJob()], { tx: tx as SqliteTx })).rejects.toMatchObject({
      code: 'TX_INVALID',
    })
  })

  test('a handle without an open transaction', async () => {
    await expect(store.enqueue([aJob()], { tx: db })).rejects.toMatchObject({
      code: 'TX_INVALID',
      message: expect.stringContaining('has no transaction open') as string,
    })
    assert.deepEqual(await store.counts(), [])
  })

  test('a handle that is closed, or of another database', async () => {
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
