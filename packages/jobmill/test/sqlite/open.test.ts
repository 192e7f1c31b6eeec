// Opening a file: options, versions, pragmas, migrations, and unsuitable files.
import {
  copyFileSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import { assert, describe, expect, onTestFinished, test } from 'vitest'
import { defineJob, jobmill } from '../../src/index.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { sqlite } from '../../src/sqlite.ts'
import { openConnection } from '../../src/store-sqlite/connection/connection.ts'
import { migrate } from '../../src/store-sqlite/schema/migrate.ts'
import { MIGRATIONS } from '../../src/store-sqlite/schema/migrations.ts'
import { versionProblem } from '../../src/store-sqlite/connection/driver.ts'
import { migration } from '../../src/store/admin/migrations.ts'
import { aClaim, aJob, anInstance, aHeartbeat } from '../../../conformance/src/factories.ts'
import { FILE_CHANGES } from './file-changes.ts'
import { freshFile, linkTo, openStore } from './support.ts'

async function copyThroughSqlite(from: string, to: string): Promise<void> {
  const handle = new Database(from)
  await handle.backup(to)
  handle.close()
}

describe('sqlite options', () => {
  test('refuses unknown options, with the nearest name', () => {
    expect(() => sqlite('jobs.db', { durabilty: 'full' } as object)).toThrow(/Did you mean "durability"/)
    expect(() => sqlite('jobs.db', { durability: 'most' } as object)).toThrow(/must be "full" or "relaxed"/)
    expect(() => sqlite('jobs.db', { busyDeadline: 'soon' })).toThrow(/must be a duration/)
    expect(() => sqlite('')).toThrow(/must be the path of a file/)
  })

  test('has a name', () => {
    assert.equal(sqlite('jobs.db').name, 'sqlite jobs.db')
  })
})

describe('versions of SQLite', () => {
  test.for(['3.51.3', '3.51.10', '3.53.4', '4.0.0', '3.52'])('%s is supported', (version) => {
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
  ] as const)('durability %s is synchronous %i, also on an existing file', ([durability, synchronous]) => {
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

  test('a file that is not a database', async () => {
    const path = freshFile()
    writeFileSync(path, 'a letter to Ada, long enough to be taken for a page of something')
    await expect(openStore(path)).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' })
    rmSync(path)
  })

  test('D3 a file with several names is refused under each of them, because every name has its own log', async () => {
    const path = freshFile()
    const first = sqlite(path)
    await first.open()
    await first.enqueue([aJob()])
    await first.close()
    const other = `${path}.other`
    linkSync(path, other)
    for (const name of [path, other, linkTo(other)]) {
      await expect(openStore(name)).rejects.toMatchObject({
        code: 'STORE_UNSUPPORTED',
        retryable: false,
        message: expect.stringContaining(
          'has several names (hard links), and each has its own log (got 2 names)',
        ) as string,
        fix: expect.stringContaining('delete the other names') as string,
      })
      expect(await sqlite(name).tools.diagnose()).toMatchObject([
        { level: 'error', message: expect.stringContaining('has several names') as string },
      ])
    }
    assert.deepEqual(readdirSync(dirname(path)).toSorted(), ['jobs.db', 'jobs.db.other'])
    rmSync(other)
    expect(await (await openStore(path)).counts()).toMatchObject([{ ready: 1 }])
  })

  test('D3 a file that had a second name can be opened again once that name is gone', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const backup = `${path}.backup`
    const db = new Database(path)
    await db.backup(backup)
    db.close()
    rmSync(path)
    linkSync(backup, path)
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' })
    await expect(store.enqueue([aJob()])).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' })
    rmSync(backup)
    await store.enqueue([aJob()])
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('D4 a relative path is relative to the working directory in which the store was created', async () => {
    const path = freshFile()
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(dirname(path))
    const made = sqlite('jobs.db')
    process.chdir(before)
    await made.open()
    onTestFinished(() => made.close())
    const instance = anInstance()
    await made.instances.register(instance)
    process.chdir('/')
    assert.isTrue((await made.instances.renew(aHeartbeat(instance.id))).alive)
    const job = aJob()
    await made.enqueue([job])
    assert.deepEqual(jobsIn(path), [`${job.id} ${job.kind} ${job.queue}`])
  })

  test('S low a new file and its logs are private to the owner; an existing file keeps its mode', async () => {
    const before = process.umask(0o022)
    onTestFinished(() => void process.umask(before))
    const path = freshFile()
    await openStore(path)
    assert.deepEqual(modes(path), ['600', '600', '600'])
    const shared = freshFile()
    writeFileSync(shared, '', { mode: 0o640 })
    await openStore(shared)
    assert.deepEqual(modes(shared), ['640', '640', '640'])
  })

  test('shares a file with tables of the user', async () => {
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
  test('a database of a newer release is refused, with the fix', async () => {
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

  test('a migration that fails leaves nothing behind', () => {
    const connection = openConnection(freshFile(), 'full')
    const broken = migration(MIGRATIONS.length + 1, 'broken', 'CREATE TABLE half (a); CREATE TABLE half (a)')
    expect(() => migrate(connection, 0, [...MIGRATIONS, broken])).toThrow(/already exists/)
    const tables = connection.prepare(`SELECT count(*) AS n FROM sqlite_schema`).get()
    assert.deepEqual(tables, { n: 0 })
    connection.close()
  })
})

describe('a sqlite file that changes while it is open', () => {
  test.for(FILE_CHANGES)(
    'D3 P1 $name, under a process that only enqueues: every acknowledged job is in the file',
    async ({ apply, expected, keeps }) => {
      const { file, backup, before } = await fileWithBackup()
      const store = await openStore(file)
      const late = aJob({ kind: 'late', queue: 'late' })
      await store.enqueue([late])
      await apply(file, backup)
      // Two kinds and queues get ids that other kinds and queues had in the file before.
      const calls = ['young', 'late', 'young'].map((kind) => aJob({ kind, queue: kind }))
      const replies: PromiseSettledResult<unknown>[] = []
      for (const job of calls) replies.push(...(await Promise.allSettled([store.enqueue([job])])))
      await store.close()
      onTestFinished(() => rmSync(dirname(file), { recursive: true }))

      const refused = replies.flatMap((reply) => (reply.status === 'rejected' ? [reply.reason as Error] : []))
      const isRefused = { reopens: [true, false, false], ignores: [false, false, false] }
      assert.deepEqual(
        replies.map(({ status }) => status === 'rejected'),
        expected instanceof RegExp ? [true, true, true] : isRefused[expected],
      )
      assert.deepEqual(
        refused.slice(0, 1).map(namesFileAndFix(file)),
        refused.slice(0, 1).map(() => true),
      )
      const written = calls.filter((_, at) => replies[at]?.status === 'fulfilled')
      const kept = keeps ? [...before, late, ...written] : [...before, ...written]
      const lines = kept.map(({ id, kind, queue }) => `${id} ${kind} ${queue}`).toSorted()
      const isAsExpected =
        expected instanceof RegExp
          ? expected.test(String(refused.at(-1)))
          : isDeepStrictEqual(jobsIn(file), lines)
      assert.isTrue(isAsExpected, String(refused.at(-1) ?? 'what was written is not in the file'))
    },
  )

  test('H3 P2 a log that lost transactions: other processes drop the lost data, and no token is used twice', async () => {
    const { file } = await fileWithBackup()
    const [first, second] = [await openStore(file), await openStore(file)]
    const instance = anInstance()
    const claim = aClaim(instance.id, { queues: [{ queue: 'late', room: 1 }], kinds: ['late'] })
    await first.instances.register(instance)
    // The second store caches names that are only in the log.
    await second.enqueue([aJob({ kind: 'late', queue: 'late' })])
    const [before] = await first.claim(claim)
    truncateSync(`${file}-wal`)
    await expect(first.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await first.enqueue([aJob({ kind: 'young', queue: 'young' })])
    const job = aJob({ kind: 'late', queue: 'late' })
    await second.enqueue([job])
    expect(await first.get([job.id])).toMatchObject([{ kind: 'late', queue: 'late' }])
    await first.instances.register(instance)
    const [after] = await first.claim(claim)
    expect(after?.id).toBe(job.id)
    assert.isAbove(after?.token ?? 0, before?.token ?? Number.POSITIVE_INFINITY)
  })

  test('D3 P2 a restored backup: a job that is claimed again has a newer token', async () => {
    const { file, backup, before } = await fileWithBackup()
    const store = await openStore(file)
    const instance = anInstance()
    const claim = aClaim(instance.id, { queues: [{ queue: 'other', room: 1 }], kinds: ['other'] })
    await store.instances.register(instance)
    const [first] = await store.claim(claim)
    assert.include(
      before.map(({ id }) => id),
      first?.id,
    )
    renameSync(backup, file)
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.instances.register(instance)
    const [second] = await store.claim(claim)
    expect(second?.id).toBe(first?.id)
    // The handler of the first claim may still run: its token must not match.
    assert.isAbove(second?.token ?? 0, first?.token ?? Number.POSITIVE_INFINITY)
  })

  test('D2 P2 a restored backup while the clock is behind the last token: no token is used twice', async () => {
    const file = freshFile()
    const instance = anInstance()
    const claim = aClaim(instance.id, { queues: [{ queue: 'mail', room: 1 }], kinds: ['mail'] })
    const ahead = sqlite(file, { clock: () => Date.now() + 3_600_000 })
    await ahead.open()
    await ahead.instances.register(instance)
    await ahead.enqueue([aJob({ kind: 'mail', queue: 'mail' }), aJob({ kind: 'mail', queue: 'mail' })])
    await ahead.claim(claim)
    await ahead.close()
    copyFileSync(file, `${file}.backup`)
    const store = await openStore(file)
    const [first] = await store.claim(claim)
    renameSync(`${file}.backup`, file)
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const [second] = await store.claim(claim)
    expect(second?.id).toBe(first?.id)
    assert.isAbove(second?.token ?? 0, first?.token ?? Number.POSITIVE_INFINITY)
  })

  test('D3 P2 a backup restored through SQLite: no outcome is written to another job', async () => {
    const file = freshFile()
    const store = await openStore(file)
    const instance = anInstance()
    const mail = { kind: 'mail', queue: 'mail' }
    const claim = aClaim(instance.id, { queues: [{ queue: 'mail', room: 1 }], kinds: ['mail'] })
    await store.instances.register(instance)
    // The backup has all names.
    await store.enqueue([aJob({ ...mail, delay: '1h' })])
    await copyThroughSqlite(file, `${file}.backup`)
    await store.enqueue([aJob(mail)])
    const [lost] = await store.claim(claim)
    await copyThroughSqlite(`${file}.backup`, file)
    // It gets the row of the lost job, and must not get its token.
    const job = aJob(mail)
    await store.enqueue([job])
    const [lease] = await store.claim(claim)
    expect(lease?.id).toBe(job.id)
    assert.isAbove(lease?.token ?? 0, lost?.token ?? Number.POSITIVE_INFINITY)
    const transition = { to: 'done', result: '"of the lost job"' } as const
    const { id = '', token = 0 } = lost ?? {}
    expect(await store.finish([{ id, token, outcome: 'returned', transition }])).toMatchObject([
      { accepted: false },
    ])
    expect(await store.get([job.id])).toMatchObject([{ state: 'running' }])
  })

  test('D2 P2 a backup restored through SQLite, then claimed by another process: the token is newer', async () => {
    const file = freshFile()
    const [before, instance] = [await openStore(file), anInstance()]
    const job = aJob({ kind: 'mail', queue: 'mail' })
    await before.instances.register(instance)
    await before.enqueue([job])
    await copyThroughSqlite(file, `${file}.backup`)
    const claim = aClaim(instance.id, { queues: [{ queue: 'mail', room: 1 }], kinds: ['mail'] })
    const [lost] = await before.claim(claim)
    await copyThroughSqlite(`${file}.backup`, file)
    // This store has seen no token.
    const after = await openStore(file)
    const [lease] = await after.claim(claim)
    expect(lease?.id).toBe(lost?.id)
    assert.isAbove(lease?.token ?? 0, lost?.token ?? Number.POSITIVE_INFINITY)
    const { id = '', token = 0 } = lost ?? {}
    const finish = { id, token, outcome: 'returned', transition: { to: 'done', result: null } } as const
    expect(await before.finish([finish])).toMatchObject([{ accepted: false }])
  })

  test('S low a replaced file waits for a transaction of this process, and the error says so', async () => {
    const { file, backup } = await fileWithBackup()
    const store = await openStore(file)
    const own = new Database(file)
    onTestFinished(() => void own.close())
    own.exec('BEGIN')
    own.prepare('SELECT count(*) FROM sqlite_schema').get()
    await store.enqueue([aJob({ kind: 'other', queue: 'other' })])
    renameSync(backup, file)
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(store.counts()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      field: file,
      message: expect.stringContaining(
        'the file was replaced while a transaction was open in this or another process. End the transaction, then retry.',
      ) as string,
    })
    own.exec('COMMIT')
    expect(await store.counts()).toHaveLength(1)
  })

  describe('while another program has the new file locked', () => {
    test('P16 the next calls wait until they can open it', async () => {
      const { file, store, unlock } = await onLockedFile()
      const job = aJob({ kind: 'other', queue: 'other' })
      const calls = Promise.all([store.counts(), store.enqueue([job]), store.list({}, { limit: 1 })])
      unlock()
      await calls
      expect(jobsIn(file)).toContain(`${job.id} other other`)
    })

    test('P16 a call in a transaction does not wait for it, and a close ends the wait', async () => {
      const { file, store, unlock } = await onLockedFile()
      const handle = new Database(file)
      onTestFinished(() => void handle.close())
      handle.exec('BEGIN')
      await expect(store.enqueue([aJob()], { tx: handle })).rejects.toMatchObject({ code: 'STORE_BUSY' })
      const call = store.counts()
      await store.close()
      unlock()
      await expect(call).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    })
  })

  test('D3 P1 P16 a working mill stops claiming, reports it, and resumes on the new file', async () => {
    const { file, backup, before } = await fileWithBackup()
    const events: { readonly type: string; readonly error?: unknown }[] = []
    const ran: string[] = []
    const other = defineJob({ kind: 'other', queue: 'other', run: ({ job }) => void ran.push(job.id) })
    const young = defineJob({ kind: 'young', queue: 'young', run: ({ job }) => void ran.push(job.id) })
    const schedules = [{ name: 'nightly', job: other, when: '0 3 * * *' }]
    const mill = jobmill({ store: sqlite(file), jobs: [other, young], schedules, log: 'silent' })
    onTestFinished(async () => void (await mill.stop({ grace: 0 })))
    mill.on('*', (event) => void events.push(event))
    await mill.start()
    await expect.poll(() => ran).toEqual(expect.arrayContaining(before.map(({ id }) => id)))
    renameSync(backup, file)
    await expect.poll(() => events.map(({ type }) => type)).toContain('store-failing')
    await expect.poll(() => events.map(({ type }) => type)).toContain('store-back')
    // Jobs that ran after the backup run again; new jobs run on the queue and the schedule that the backup
    // did not have.
    const { id } = await mill.enqueue(young, null)
    await expect.poll(() => ran).toContain(id)
    assert.deepEqual(ran.filter((id) => id === before[0]?.id).length, 2)
    assert.deepEqual(
      (await mill.schedules.list()).map(({ name }) => name),
      ['nightly'],
    )
    assert.isTrue(events.some(({ error }) => String(error).includes(file)))
  })
})

/** A file with some jobs, and a backup of it. */
async function fileWithBackup(): Promise<{ file: string; backup: string; before: NewJob[] }> {
  const file = freshFile()
  const backup = `${file}.backup`
  const before = Array.from({ length: 200 }, () => aJob({ kind: 'other', queue: 'other' }))
  const store = sqlite(file)
  await store.open()
  await store.enqueue(before)
  await store.close()
  copyFileSync(file, backup)
  return { file, backup, before }
}

/** A store whose file was replaced. `unlock` ends the transaction of the other program. */
async function onLockedFile() {
  const { file, backup } = await fileWithBackup()
  const [store, other] = [await openStore(file), await openStore(file)]
  renameSync(backup, file)
  // The other store opens the new file, and makes this one close the old file.
  await expect(other.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await other.counts()
  await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  const program = new Database(file)
  onTestFinished(() => void program.close())
  program.exec('BEGIN IMMEDIATE')
  return { file, store, unlock: () => void program.exec('COMMIT') }
}

/** The jobs that a new process finds in a file. */
function jobsIn(file: string): string[] {
  const db = new Database(file, { fileMustExist: true })
  try {
    assert.equal(db.pragma('quick_check', { simple: true }), 'ok')
    const rows = db
      .prepare(
        `SELECT j.id, k.name AS kind, q.name AS queue FROM jobmill_job AS j
          JOIN jobmill_kind AS k ON k.id = j.kind_id JOIN jobmill_queue AS q ON q.id = j.queue_id`,
      )
      .all() as { readonly id: string; readonly kind: string; readonly queue: string }[]
    return rows.map(({ id, kind, queue }) => `${id} ${kind} ${queue}`).toSorted()
  } finally {
    db.close()
  }
}

/** The modes of the file and its logs. */
function modes(path: string): string[] {
  return ['', '-wal', '-shm'].map((end) => (statSync(`${path}${end}`).mode & 0o777).toString(8))
}

const namesFileAndFix = (file: string) => (error: unknown) =>
  isJobmillError(error) && error.field === file && error.fix !== undefined
