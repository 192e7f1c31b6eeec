/** The SQLite file changes while the tables, and a store in the same process, have it open. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, rmSync, truncateSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { killAtEnd } from '../../../test/support/programs/kill-at-end.ts'
import { sqlite } from 'jobmill/sqlite'
import { type Database, openTables, peek, sql, type Step } from 'jobmill-tables'
import { freshFile } from '../../../test/support/databases.ts'
import { kill, startProcess } from '../../jobmill/test/processes/children.ts'

interface Schema {
  shop_order: { id: string }
  shop_return: { id: string }
}

const STEPS: readonly Step[] = ['shop_order', 'shop_return'].map((name) => async (db, { table }) => {
  await sql`CREATE TABLE ${table(name)} (id text PRIMARY KEY)`.execute(db)
})

async function opened(file: string, steps = STEPS): Promise<Database<Schema>> {
  const database = await openTables<Schema>(file, { app: 'shop', steps })
  onTestFinished(() => database.tables.close())
  onTestFinished(() => database.store.close())
  await database.store.open()
  await database.tables.open()
  return database
}

const order = ({ tables }: Database<Schema>, id: string): Promise<unknown> =>
  tables.db.insertInto('shop_order').values({ id }).execute()

function orders(file: string): unknown[] {
  return withHandle(file, (handle) => handle.prepare('SELECT id FROM shop_order ORDER BY id').pluck().all())
}

function withHandle<T>(file: string, work: (handle: Sqlite.Database) => T): T {
  const handle = new Sqlite(file)
  try {
    return work(handle)
  } finally {
    handle.close()
  }
}

/** A handle of the caller, with a transaction. */
function begun(file: string, how: 'BEGIN' | 'BEGIN IMMEDIATE' = 'BEGIN IMMEDIATE'): Sqlite.Database {
  const handle = new Sqlite(file)
  onTestFinished(() => void handle.close())
  handle.exec(how)
  return handle
}

function backUp(file: string): string {
  withHandle(file, (handle) => handle.exec(`VACUUM INTO '${file}.bak'`))
  return `${file}.bak`
}

function deleteLogs(file: string): void {
  for (const log of ['-wal', '-shm']) rmSync(`${file}${log}`)
}

/** Another program: executes this in a process of its own, which is then killed. */
async function executeElsewhere(file: string, text: string): Promise<void> {
  const script = `const database = new (require('better-sqlite3'))(process.argv[1])
    database.exec(process.argv[2])
    process.kill(process.pid, 'SIGKILL')`
  const child = spawn(process.execPath, ['-e', script, file, text], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
  })
  killAtEnd(child)
  await once(child, 'close')
}

/** Retries while the store and the tables close the old files. */
const eventually = <T>(call: () => Promise<T>): Promise<T> =>
  vi.waitFor(call, { timeout: 10_000, interval: 5 })

const UNAVAILABLE = { code: 'STORE_UNAVAILABLE' }

describe('tables on a SQLite file that changes', () => {
  test('D3 P1 a backup is moved into place: one call is refused, and the next ones use the new file', async () => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    renameSync(backUp(file), file)
    await expect(order(database, 'b')).rejects.toMatchObject(UNAVAILABLE)
    await order(database, 'c')
    expect(orders(file)).toEqual(['a', 'c'])
  })

  test('P16 while another program has the new file locked, the next call waits', async () => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    renameSync(backUp(file), file)
    // The store opens the new file, and makes the tables close the old one.
    await expect(database.store.counts()).rejects.toMatchObject(UNAVAILABLE)
    await database.store.counts()
    await expect(order(database, 'b')).rejects.toMatchObject(UNAVAILABLE)
    const program = begun(file)
    const call = order(database, 'c')
    program.exec('COMMIT')
    await call
    expect(orders(file)).toEqual(['a', 'c'])
  })

  test('D3 P16 calls are refused while the file is missing, and continue once it is back', async () => {
    const file = freshFile()
    const database = await opened(file)
    renameSync(file, `${file}.away`)
    for (const id of ['a', 'b', 'c']) await expect(order(database, id)).rejects.toMatchObject(UNAVAILABLE)
    renameSync(`${file}.away`, file)
    await order(database, 'd')
    expect(orders(file)).toEqual(['d'])
  })

  test('D3 P1 a read is refused as well', async () => {
    const file = freshFile()
    const { tables } = await opened(file)
    renameSync(backUp(file), file)
    const read = (): Promise<unknown[]> => tables.db.selectFrom('shop_order').selectAll().execute()
    await expect(read()).rejects.toMatchObject(UNAVAILABLE)
    expect(await read()).toEqual([])
  })

  test.each([
    ['a backup is moved into place', (file: string) => renameSync(backUp(file), file)],
    ['the logs are deleted', deleteLogs],
  ])('D3 P1 %s during a transaction: its commit is refused', async (_name, change) => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    const written = database.tables.transaction(async (db) => {
      change(file)
      await db.insertInto('shop_order').values({ id: 'b' }).execute()
    })
    await expect(written).rejects.toMatchObject(UNAVAILABLE)
    await order(database, 'c')
    expect(orders(file)).toEqual(['a', 'c'])
  })

  test('D3 an older backup gets the steps that it lacks', async () => {
    const file = freshFile()
    const first = await opened(file, STEPS.slice(0, 1))
    await order(first, 'a')
    const backup = backUp(file)
    const { tables } = await opened(file)
    renameSync(backup, file)
    const put = (): Promise<unknown> => tables.db.insertInto('shop_return').values({ id: 'a' }).execute()
    await expect(put()).rejects.toMatchObject(UNAVAILABLE)
    await put()
    expect(orders(file)).toEqual(['a'])
  })

  test('D3 a file without any of the tables is refused, and stays as it is', async () => {
    const file = freshFile()
    const database = await opened(file)
    withHandle(`${file}.other`, (handle) => handle.exec('CREATE TABLE other (id)'))
    renameSync(`${file}.other`, file)
    await expect(order(database, 'a')).rejects.toMatchObject(UNAVAILABLE)
    await expect(order(database, 'a')).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' })
    const names = withHandle(file, (handle) => handle.prepare('SELECT name FROM sqlite_schema').pluck().all())
    expect(names).toEqual(['other'])
  })

  test('D3 P1 deleted logs: the store continues while the tables are idle', async () => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    deleteLogs(file)
    await expect(database.store.counts()).rejects.toMatchObject(UNAVAILABLE)
    await database.store.counts()
    await order(database, 'b').catch(() => order(database, 'b'))
    expect(orders(file)).toEqual(['a', 'b'])
  })

  test('D3 P1 deleted logs: the tables continue while the store is idle', async () => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    deleteLogs(file)
    await expect(order(database, 'b')).rejects.toMatchObject(UNAVAILABLE)
    await order(database, 'b')
    await database.store.counts()
    expect(orders(file)).toEqual(['a', 'b'])
  })

  test('D3 P1 deleted logs: the store waits for an open transaction of the tables', async () => {
    const file = freshFile()
    const database = await opened(file)
    await order(database, 'a')
    const inside = database.tables.transaction(async (db) => {
      deleteLogs(file)
      for (let call = 0; call < 3; call += 1)
        await expect(database.store.counts()).rejects.toMatchObject(UNAVAILABLE)
      await db.insertInto('shop_order').values({ id: 'b' }).execute()
    })
    await expect(inside).rejects.toMatchObject(UNAVAILABLE)
    await database.store.counts()
    await order(database, 'c')
    expect(orders(file)).toEqual(['a', 'c'])
  })

  test.each(['store', 'tables'] as const)(
    'D3 P1 deleted logs, and another program writes: what it wrote stays when the %s notice first',
    async (first) => {
      const file = freshFile()
      const database = await opened(file)
      withHandle(file, (handle) => handle.pragma('wal_checkpoint(TRUNCATE)'))
      await order(database, 'lost')
      deleteLogs(file)
      await executeElsewhere(file, `INSERT INTO shop_order VALUES ('theirs')`)
      const calls = [() => database.store.counts(), () => order(database, 'ours')]
      for (const call of first === 'store' ? calls : calls.toReversed()) await eventually<unknown>(call)
      // What was only in the deleted log is lost, because the other program wrote without it.
      expect(orders(file)).toEqual(['ours', 'theirs'])
      expect(withHandle(file, (handle) => handle.pragma('integrity_check', { simple: true }))).toBe('ok')
    },
  )

  test('D3 P1 a truncated log: the tables notice first, and the store drops what it remembers', async () => {
    const file = freshFile()
    const database = await opened(file)
    withHandle(file, (handle) => handle.pragma('wal_checkpoint(TRUNCATE)'))
    const history = `SELECT value FROM jobmill_counter WHERE name = 'history'`
    const before = withHandle(file, (handle) => handle.prepare(history).pluck().get())
    await order(database, 'lost')
    truncateSync(`${file}-wal`)
    await expect(order(database, 'a')).rejects.toMatchObject(UNAVAILABLE)
    await order(database, 'b')
    await eventually(() => database.store.counts())
    expect(orders(file)).toEqual(['b'])
    expect(withHandle(file, (handle) => handle.prepare(history).pluck().get())).not.toBe(before)
    expect(withHandle(file, (handle) => handle.pragma('integrity_check', { simple: true }))).toBe('ok')
  })

  test('D3 P1 a truncated log: the store notices it after the tables were closed', async () => {
    const file = freshFile()
    const database = await opened(file)
    await database.tables.close()
    truncateSync(`${file}-wal`)
    await expect(database.store.counts()).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining('truncated') as string,
    })
  })

  test('D3 a value is not read from a file whose logs were deleted under another process', async () => {
    const file = freshFile()
    const other = startProcess('store-process.ts', {
      place: { store: 'sqlite', at: file },
      task: 'enqueue-on-request',
    })
    onTestFinished(() => kill(other))
    await other.untilMessages(({ length }) => length === 1)
    deleteLogs(file)
    const read = peek(file, { app: 'shop', table: 'shop_order', column: 'id' })
    await expect(read).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining(`process ${other.child.pid} still has`) as string,
    })
  })
})

describe('tables in a SQLite transaction of the caller', () => {
  const OTHER_FILE = {
    code: 'TX_INVALID',
    message: expect.stringContaining('different database file') as string,
  }

  test('D3 P10 a transaction on another file is refused', async () => {
    const { tables } = await opened(freshFile())
    const elsewhere = freshFile()
    await opened(elsewhere)
    expect(() => tables.within(begun(elsewhere))).toThrow(expect.objectContaining(OTHER_FILE) as Error)
  })

  test('D3 P10 a transaction on a file without a store is refused', async () => {
    const { tables } = await opened(freshFile())
    const tx = begun(freshFile())
    expect(() => tables.within(tx)).toThrow(expect.objectContaining({ code: 'TX_INVALID' }) as Error)
  })

  test('D3 P10 a transaction on a replaced file is refused', async () => {
    const file = freshFile()
    const database = await opened(file)
    const tx = begun(file)
    tx.exec('COMMIT')
    renameSync(backUp(file), file)
    tx.exec('BEGIN IMMEDIATE')
    expect(() => database.tables.within(tx)).toThrow(expect.objectContaining(UNAVAILABLE) as Error)
    tx.exec('ROLLBACK')
    await order(database, 'a')
    tx.exec('BEGIN IMMEDIATE')
    expect(() => database.tables.within(tx)).toThrow(expect.objectContaining(OTHER_FILE) as Error)
  })

  test('D3 P10 without a store, a file that was replaced before it was opened is refused', async () => {
    const file = freshFile()
    const first = await openTables<Schema>(file, { app: 'shop', steps: STEPS })
    await first.tables.open()
    await first.tables.close()
    const tx = begun(file)
    tx.exec('COMMIT')
    renameSync(backUp(file), file)
    deleteLogs(file)
    const { tables } = await openTables<Schema>(file, { app: 'shop', steps: STEPS })
    onTestFinished(() => tables.close())
    await tables.open()
    tx.exec('BEGIN IMMEDIATE')
    expect(() => tables.within(tx)).toThrow(expect.objectContaining(OTHER_FILE) as Error)
  })

  test('P10 without a store, a transaction on the same file is accepted', async () => {
    const file = freshFile()
    const { tables } = await openTables<Schema>(file, { app: 'shop', steps: STEPS })
    onTestFinished(() => tables.close())
    await tables.open()
    const tx = begun(file)
    await tables.within(tx).insertInto('shop_order').values({ id: 'a' }).execute()
    tx.exec('COMMIT')
    expect(orders(file)).toEqual(['a'])
    expect(() => tables.within(begun(freshFile()))).toThrow(expect.objectContaining(OTHER_FILE) as Error)
  })

  test('D10 a stale transaction is refused at once, with a fix', async () => {
    const file = freshFile()
    const database = await opened(file)
    const tx = begun(file, 'BEGIN')
    tx.prepare('SELECT count(*) FROM shop_order').get()
    await order(database, 'a')
    const written = database.tables.within(tx).insertInto('shop_order').values({ id: 'b' }).execute()
    await expect(written).rejects.toMatchObject({
      code: 'TX_INVALID',
      message: expect.stringContaining('BEGIN IMMEDIATE') as string,
    })
  })
})

test('D3 a second store of the process opens a file whose logs were deleted', async () => {
  const file = freshFile()
  const database = await opened(file)
  await order(database, 'a')
  deleteLogs(file)
  const second = sqlite(file)
  onTestFinished(() => second.close())
  await second.open()
  await second.counts()
  expect(orders(file)).toEqual(['a'])
})
