/** Diagnostics of a SQLite file, each with the real problem. */
import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { Diagnostic } from '../../src/store/admin/admin.ts'
import { fileSystem } from '../../src/store-sqlite/admin/checks.ts'
import { LOG_LIMIT_BYTES } from '../../src/store-sqlite/connection/connection.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { linkTo } from '../sqlite/support.ts'

async function migratedFile(): Promise<string> {
  const path = freshFile()
  const store = sqlite(path)
  await store.open()
  await store.close()
  return path
}

function exec(path: string, text: string): void {
  const database = new Database(path)
  try {
    database.exec(text)
  } finally {
    database.close()
  }
}

/** The unhealthy results. */
async function troubles(path: string, options: Parameters<typeof sqlite>[1] = {}): Promise<Diagnostic[]> {
  return (await sqlite(path, options).tools.diagnose()).filter(({ level }) => level !== 'ok')
}

describe('diagnose on sqlite', () => {
  test('a new database passes every check', async () => {
    const diagnostics = await sqlite(await migratedFile()).tools.diagnose()
    expect(diagnostics.map(({ check, level, fix }) => [check, level, fix])).toEqual(
      [
        'schema',
        'drift',
        'index',
        'keys',
        'journal',
        'durability',
        'file system',
        'log',
        'integrity',
        'free space',
        'clock',
        'server',
      ].map((check) => [check, 'ok', null]),
    )
  })

  test('reports a missing file, and an empty one', async () => {
    const path = freshFile()
    expect(await troubles(path)).toMatchObject([
      { check: 'schema', level: 'error', message: `the file ${path} does not exist` },
    ])
    exec(path, 'CREATE TABLE mine (id); PRAGMA journal_mode = WAL')
    expect(await troubles(path)).toEqual([
      {
        check: 'schema',
        level: 'error',
        message: 'the database has no Jobmill tables',
        fix: 'Run jobmill db migrate',
      },
    ])
    expect(await troubles(':memory:')).toEqual([])
  })

  test('reports missing migrations, and those of a newer release', async () => {
    const path = await migratedFile()
    exec(path, 'DELETE FROM jobmill_migration')
    expect(await troubles(path)).toMatchObject([
      {
        check: 'schema',
        level: 'warning',
        message: 'not applied yet: migration 1 (0.1.0)',
        fix: expect.stringContaining('jobmill db migrate') as string,
      },
    ])
    exec(path, `INSERT INTO jobmill_migration VALUES (99, 'later', 'x', 0)`)
    expect(await troubles(path)).toMatchObject([
      { check: 'schema', level: 'error', fix: expect.stringContaining('Install the release') as string },
    ])
  })

  test('reports a missing and a different index, and the fix repairs both', async () => {
    const path = await migratedFile()
    exec(
      path,
      'DROP INDEX jobmill_job_due; DROP INDEX jobmill_event_at; CREATE INDEX jobmill_event_at ON jobmill_event (n)',
    )
    const problems = await troubles(path)
    expect(problems).toMatchObject([
      { check: 'index', level: 'error', message: 'the index jobmill_job.jobmill_job_due is missing' },
      {
        check: 'index',
        level: 'error',
        message: 'the index jobmill_event.jobmill_event_at differs from its migration',
      },
    ])
    for (const { fix } of problems) exec(path, String(fix).replace(/^[^:]+: /, ''))
    expect(await troubles(path)).toEqual([])
  })

  test('reports missing, different and foreign columns, and a missing table', async () => {
    const path = await migratedFile()
    exec(
      path,
      `ALTER TABLE jobmill_job DROP COLUMN log; ALTER TABLE jobmill_event DROP COLUMN data; ALTER TABLE jobmill_kind ADD COLUMN mine TEXT; DROP TABLE jobmill_slot;
       ALTER TABLE jobmill_queue DROP COLUMN keep_done; ALTER TABLE jobmill_queue ADD COLUMN keep_done TEXT`,
    )
    const problems = await troubles(path)
    expect(problems).toMatchObject([
      {
        level: 'error',
        message: 'the table jobmill_slot is missing',
        fix: expect.stringContaining('backup') as string,
      },
      // It is required and has no default, so SQLite would refuse to add it to a table with rows.
      {
        level: 'error',
        message: 'the column jobmill_event.data is missing',
        fix: expect.stringContaining('Restore a backup') as string,
      },
      {
        level: 'error',
        message: 'the column jobmill_job.log is missing',
        fix: expect.stringContaining('ALTER TABLE jobmill_job ADD COLUMN log TEXT') as string,
      },
      {
        level: 'error',
        message: 'the column jobmill_queue.keep_done differs from its migration',
        fix: expect.stringContaining('Restore a backup') as string,
      },
      {
        level: 'warning',
        message: 'the column jobmill_kind.mine does not belong to Jobmill',
        fix: expect.stringContaining('ALTER TABLE jobmill_kind DROP COLUMN mine') as string,
      },
    ])
  })

  test('reports a file without a write-ahead log, and leaves it without', async () => {
    const path = await migratedFile()
    exec(path, 'PRAGMA journal_mode = DELETE')
    const problems = await troubles(path)
    expect(problems).toMatchObject([
      {
        check: 'journal',
        level: 'warning',
        message: expect.stringContaining('the journal mode is delete') as string,
        fix: expect.stringContaining('PRAGMA journal_mode = WAL') as string,
      },
    ])
    expect(await troubles(path)).toEqual(problems)
  })

  test('reports relaxed durability', async () => {
    expect(await troubles(await migratedFile(), { durability: 'relaxed' })).toMatchObject([
      { check: 'durability', level: 'warning', fix: expect.stringContaining('durability') as string },
    ])
  })

  test('reports a network file system, as far as its type number shows', () => {
    const NFS = 0x69_69
    const SMB_AS_SOME_READ_IT = 0xfe_53_4d_42 | 0
    for (const type of [NFS, SMB_AS_SOME_READ_IT]) {
      expect(fileSystem('jobs.db', type)).toMatchObject({
        level: 'error',
        fix: expect.stringContaining('Move it to a local disk') as string,
      })
    }
    expect(fileSystem('jobs.db', 0x65_73_55_46)).toMatchObject({ level: 'warning' })
    expect(fileSystem('jobs.db', 0xef_53)).toMatchObject({ level: 'ok' })
    expect(fileSystem('jobs.db', null)).toMatchObject({ level: 'ok' })
  })

  test('D3 reports a log that a reader holds, with the process that reads, also through a symbolic link', async () => {
    const path = await migratedFile()
    const store = sqlite(path)
    await store.open()
    onTestFinished(() => store.close())
    const reader = new Database(path, { readonly: true })
    onTestFinished(() => void reader.close())
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM jobmill_job').get()
    const payload = 'x'.repeat(900_000)
    while (statSync(`${path}-wal`).size <= 2 * LOG_LIMIT_BYTES)
      await store.enqueue(Array.from({ length: 8 }, () => aJob({ payload })))
    const [held, ...others] = await troubles(path)
    expect(others).toEqual([])
    const link = linkTo(path)
    expect(await troubles(link)).toMatchObject([{ check: 'log', message: held?.message }])
    expect(await sqlite(link).tools.health()).toMatchObject({ logBytes: statSync(`${path}-wal`).size })
    expect(await sqlite(link).tools.resources()).toMatchObject({ walBytes: statSync(`${path}-wal`).size })
    expect(held).toMatchObject({ check: 'log', level: 'warning' })
    expect(held?.message).toMatch(/the write-ahead log has grown to [\d.]+ MiB/)
    // Only Linux reports which process holds the log.
    const [by, end] =
      process.platform === 'linux' ? [`process ${process.pid} (`, `kill ${process.pid}`] : ['', '']
    expect(held?.message).toContain(by)
    expect(held?.fix).toContain(end)
    reader.exec('COMMIT')
    // The store checkpoints in a thread, which also reads the log and may be done by now.
    const startOne = 'Start a Jobmill process'
    await expect.poll(async () => (await troubles(path))[0]?.fix ?? startOne).toContain(startOne)
  })

  test('reports free pages that are more than half of the file', async () => {
    const path = await migratedFile()
    exec(
      path,
      `CREATE TABLE large (text); INSERT INTO large SELECT zeroblob(1000000) FROM sqlite_schema LIMIT 20; DELETE FROM large`,
    )
    expect(await troubles(path)).toMatchObject([
      {
        check: 'free space',
        level: 'warning',
        message: expect.stringMatching(/^19\.\d MiB of 19\.\d MiB are free/) as string,
        fix: expect.stringContaining('VACUUM') as string,
      },
    ])
  })

  test('reports a damaged page, and a file that is not a database', async () => {
    const path = await migratedFile()
    const database = new Database(path)
    const page = database
      .prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'jobmill_event_at'`)
      .pluck()
      .get()
    database.close()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(100, 0x55), 0, 100, (Number(page) - 1) * 4096)
    closeSync(file)
    expect(await troubles(path)).toMatchObject([
      {
        check: 'integrity',
        level: 'error',
        message: expect.stringContaining('the file is damaged') as string,
        fix: expect.stringContaining('.recover') as string,
      },
    ])
    const text = freshFile()
    writeFileSync(
      text,
      'This is no database, but it is long enough to have been one, had somebody wanted that.',
    )
    expect(await troubles(text)).toMatchObject([{ check: 'integrity', level: 'error' }])
  })

  test('reports rows from the future', async () => {
    const path = await migratedFile()
    const store = sqlite(path, { clock: () => Date.now() + 3 * 3_600_000 + 30_000 })
    await store.open()
    await store.enqueue([aJob()])
    await store.close()
    expect(await troubles(path)).toMatchObject([
      {
        check: 'clock',
        level: 'warning',
        message: expect.stringContaining('is 3 h in the future') as string,
        fix: expect.stringContaining('NTP') as string,
      },
    ])
  })
})
