/**
 * The -wal and -shm files are deleted while real processes have them open. SQLite shares its index between
 * the connections of one process, so the effect shows only between processes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { sqlite } from '../../src/sqlite.ts'
import { openFiles } from '../../src/store-sqlite/file/same-file.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { kill, startProcess } from '../processes/children.ts'

const LOGS = { '-wal': ['-wal'], '-shm': ['-shm'], both: ['-wal', '-shm'] } as const

interface Enqueuer {
  /** The id of an acknowledged job, or an error code. */
  readonly enqueue: () => Promise<string>
  /** Retries until it is acknowledged. */
  readonly enqueued: () => Promise<string>
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
  readonly pid: number | undefined
}

async function enqueuer(file: string): Promise<Enqueuer> {
  const started = startProcess('store-process.ts', {
    place: { store: 'sqlite', at: file },
    task: 'enqueue-on-request',
  })
  const { messages, ended } = started
  await started.untilMessages(({ length }) => length === 1)
  async function enqueue(): Promise<string> {
    const before = messages.length
    started.tell({})
    await started.untilMessages(({ length }) => length > before)
    return messages.at(-1) ?? ''
  }
  return {
    enqueue,
    async enqueued() {
      for (;;) {
        const answer = await enqueue()
        if (answer.includes('-')) return answer
        expect(['STORE_UNAVAILABLE', 'STORE_BUSY', 'OUTCOME_UNKNOWN']).toContain(answer)
      }
    },
    async stop() {
      started.tell({ end: true })
      await ended
    },
    kill: () => kill(started),
    pid: started.child.pid,
  }
}

/** The ids of the jobs that are not in the file, which must be intact. */
function lostFrom(file: string, ids: readonly string[]): string[] {
  const database = new Database(file)
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const there = new Set(database.prepare('SELECT id FROM jobmill_job').pluck().all())
    return ids.filter((id) => !there.has(id))
  } finally {
    database.close()
  }
}

function people(file: string): unknown[] {
  const database = new Database(file)
  try {
    return database.prepare('SELECT name FROM person').pluck().all()
  } finally {
    database.close()
  }
}

/** Another program: executes this on the database in a process of its own, and keeps it open until `kill`. */
async function program(file: string, sql: string): Promise<{ readonly kill: () => Promise<void> }> {
  const script = `const database = new (require('better-sqlite3'))(process.argv[1])
    database.exec(process.argv[2])
    process.send('done')
    process.on('message', () => {})`
  const child = spawn(process.execPath, ['-e', script, file, sql], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const closed = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
  }
  onTestFinished(kill)
  await once(child, 'message')
  return { kill }
}

/** Copies the log, including the tables, into the file. */
function copyLog(file: string): void {
  const database = new Database(file)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

/** Copies the log into the file, and holds the lock for that until the open write transaction has ended. */
function copyingLog(file: string): { readonly ended: Promise<unknown> } {
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads')
     const database = new (require('better-sqlite3'))(workerData, { timeout: 60_000 })
     database.pragma('wal_checkpoint(FULL)')
     database.close()`,
    { eval: true, workerData: file },
  )
  return { ended: once(worker, 'exit') }
}

/** SQLite locks byte 121 of the -shm file while it copies the log, and byte 120 while it writes. */
function isCopying(file: string): boolean {
  const { ino } = statSync(`${file}-shm`)
  return new RegExp(` WRITE .*:${ino} 12[01] 121$`, 'm').test(readFileSync('/proc/locks', 'utf8'))
}

const twice = async (enqueue: () => Promise<string>): Promise<string[]> => [await enqueue(), await enqueue()]

describe('D3 P1 deleted log files', () => {
  const ENDS = (['-wal', '-shm', 'both'] as const).flatMap((which) =>
    (['stop', 'kill'] as const).map((end) => [which, end] as const),
  )
  // `npm test` covers each log and each end, but not all pairs.
  test.for(ENDS.filter((_, at) => inFull(true, [0, 3, 5].includes(at))))(
    '%s, under two processes that enqueue and then %s: no job is lost',
    async ([which, end]) => {
      const file = freshFile()
      const [one, other] = [await enqueuer(file), await enqueuer(file)]
      const before = [...(await twice(one.enqueued)), ...(await twice(other.enqueued))]
      for (const log of LOGS[which]) rmSync(`${file}${log}`)
      expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
      expect(await other.enqueue()).toBe('STORE_UNAVAILABLE')
      // Both, because one may have to wait until the other has closed the old files.
      const after = [
        ...(await Promise.all([one.enqueued(), other.enqueued()])),
        ...(await twice(one.enqueued)),
      ]
      await one[end]()
      await other[end]()
      expect(lostFrom(file, [...before, ...after])).toEqual([])
    },
  )

  test.each(inFull(['-wal', '-shm', 'both'] as const, ['both'] as const))(
    '%s, while another process is idle: refused with its id until it calls or is killed',
    async (which) => {
      const file = freshFile()
      const [one, idle] = [await enqueuer(file), await enqueuer(file)]
      const ids = [...(await twice(one.enqueued)), await idle.enqueued()]
      for (const log of LOGS[which]) rmSync(`${file}${log}`)
      expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
      expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
      await idle.kill()
      ids.push(await one.enqueued())
      await one.stop()
      expect(lostFrom(file, ids)).toEqual([])
    },
  )

  test.each(inFull(['-wal', '-shm', 'both'] as const, ['-wal'] as const))(
    '%s, and a new process starts while an idle one has the old files: it waits, and nothing is lost',
    async (which) => {
      const file = freshFile()
      const idle = await enqueuer(file)
      const ids = await twice(idle.enqueued)
      for (const log of LOGS[which]) rmSync(`${file}${log}`)
      await expect(sqlite(file, { busyDeadline: 1 }).open()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(`process ${idle.pid} still has the old one open`) as string,
      })
      const later = sqlite(file)
      onTestFinished(() => later.close())
      await Promise.all([later.open(), idle.enqueued()])
      const job = aJob()
      await later.enqueue([job])
      ids.push(job.id, await idle.enqueued())
      await idle.stop()
      await later.close()
      expect(lostFrom(file, ids)).toEqual([])
    },
  )

  test.each(inFull(['stays', 'is killed'] as const, ['stays'] as const))(
    'both, and another program writes to the database before the next call, and %s: what it wrote stays',
    async (end) => {
      const file = freshFile()
      const first = await enqueuer(file)
      copyLog(file)
      const onlyInLog = await twice(first.enqueued)
      for (const log of LOGS.both) rmSync(`${file}${log}`)
      const other = await program(file, `CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('Ada')`)
      if (end === 'is killed') await other.kill()
      // The error names the loss.
      expect(await first.enqueue()).toBe('STORE_UNAVAILABLE')
      const after = await twice(first.enqueued)
      await other.kill()
      await first.stop()
      expect(lostFrom(file, after)).toEqual([])
      expect(lostFrom(file, onlyInLog)).toEqual(onlyInLog)
      expect(people(file)).toEqual(['Ada'])
    },
  )

  test.each(inFull(['stays', 'is killed'] as const, ['is killed'] as const))(
    '-wal, and another program writes to the database before the next call, and %s: work continues',
    async (end) => {
      const file = freshFile()
      const first = await enqueuer(file)
      copyLog(file)
      await twice(first.enqueued)
      rmSync(`${file}-wal`)
      const other = await program(file, `CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('Ada')`)
      if (end === 'is killed') await other.kill()
      expect(await first.enqueue()).toBe('STORE_UNAVAILABLE')
      const after = await twice(first.enqueued)
      await other.kill()
      await first.stop()
      expect(lostFrom(file, after)).toEqual([])
    },
  )

  test('both, and empty files are put in their place: nothing is lost', async () => {
    const file = freshFile()
    const first = await enqueuer(file)
    copyLog(file)
    const ids = await twice(first.enqueued)
    for (const log of LOGS.both) {
      rmSync(`${file}${log}`)
      writeFileSync(`${file}${log}`, '')
    }
    expect(await first.enqueue()).toBe('STORE_UNAVAILABLE')
    ids.push(...(await twice(first.enqueued)))
    await first.stop()
    expect(lostFrom(file, ids)).toEqual([])
  })

  test('both, and another program has the database open when the process only stops: what that program wrote stays', async () => {
    const file = freshFile()
    const first = await enqueuer(file)
    await twice(first.enqueued)
    for (const log of LOGS.both) rmSync(`${file}${log}`)
    const other = new Database(file)
    other.exec(`CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('Ada')`)
    await first.stop()
    other.exec(`INSERT INTO person VALUES ('Grace')`)
    other.close()
    expect(people(file)).toEqual(['Ada', 'Grace'])
  })

  test.each(inFull(['-wal', '-shm', 'both'] as const, []))(
    '%s, again and again under three processes that enqueue: nothing is lost',
    async (which) => {
      const file = freshFile()
      const three = [await enqueuer(file), await enqueuer(file), await enqueuer(file)]
      const ids: string[] = []
      for (let deletions = 0; deletions < 100; deletions += 1) {
        const calls = three.map(async ({ enqueue }) => {
          for (let call = 0; call < 1 + (deletions % 7); call += 1) {
            const answer = await enqueue()
            if (answer.includes('-')) ids.push(answer)
          }
        })
        for (const log of LOGS[which]) rmSync(`${file}${log}`, { force: true })
        await Promise.all(calls)
      }
      // Until all are acknowledged in one round: a process that only waits may keep the old files open.
      for (let acknowledged: string[] = []; acknowledged.length < three.length;) {
        const answers = await Promise.all(three.map(({ enqueue }) => enqueue()))
        acknowledged = answers.filter((answer) => answer.includes('-'))
        ids.push(...acknowledged)
      }
      for (const { stop } of three) await stop()
      expect(lostFrom(file, ids)).toEqual([])
    },
  )

  test('both, while another program is reading and then killed: nothing is lost', async () => {
    const file = freshFile()
    const one = await enqueuer(file)
    const ids = await twice(one.enqueued)
    // What was written after this snapshot cannot be copied.
    const reader = await program(file, 'BEGIN; SELECT count(*) FROM jobmill_job')
    ids.push(await one.enqueued())
    for (const log of LOGS.both) rmSync(`${file}${log}`)
    expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
    expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
    await reader.kill()
    ids.push(await one.enqueued())
    await one.stop()
    expect(lostFrom(file, ids)).toEqual([])
  })

  test('both, while another connection is copying the log: calls are refused until it ends', async () => {
    const file = freshFile()
    const one = await enqueuer(file)
    const ids = await twice(one.enqueued)
    const writer = new Database(file)
    writer.exec('BEGIN IMMEDIATE')
    const copier = copyingLog(file)
    await vi.waitFor(() => expect(isCopying(file)).toBe(true), 10_000)
    for (const log of LOGS.both) rmSync(`${file}${log}`)
    expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
    expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
    writer.exec('ROLLBACK')
    await copier.ended
    writer.close()
    ids.push(await one.enqueued())
    await one.stop()
    expect(lostFrom(file, ids)).toEqual([])
  })

  test.each(['-wal', 'both'] as const)(
    '%s, while the application has its own handle open: calls are refused until it is closed',
    async (which) => {
      const file = freshFile()
      const store = sqlite(file)
      onTestFinished(() => store.close())
      await store.open()
      const job = aJob()
      await store.enqueue([job])
      const app = new Database(file)
      app.prepare('SELECT count(*) FROM jobmill_job').get()
      for (const log of LOGS[which]) rmSync(`${file}${log}`)
      await expect(store.enqueue([aJob()])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await expect(store.enqueue([aJob()])).rejects.toThrow('Close all other connections to the database')
      app.close()
      const later = aJob()
      await store.enqueue([later])
      await store.close()
      expect(lostFrom(file, [job.id, later.id])).toEqual([])
    },
  )
})

test.each(['-wal', '-shm'] as const)(
  'D3 P1 a %s file that was replaced while SQLite opened it is noticed',
  (log) => {
    const file = freshFile()
    const database = new Database(file)
    onTestFinished(() => void database.close())
    database.pragma('journal_mode = WAL')
    database.exec('CREATE TABLE person (name TEXT)')
    const isCurrent = (): boolean => openFiles(file, () => 0).isCurrent
    expect(isCurrent()).toBe(true)
    rmSync(`${file}${log}`)
    expect(isCurrent()).toBe(false)
    writeFileSync(`${file}${log}`, '')
    expect(isCurrent()).toBe(false)
  },
)

test('H3 P1 the -wal file loses frames that were already copied, while a reader prevents its reset', async () => {
  const file = freshFile()
  const one = await enqueuer(file)
  const ids = await twice(one.enqueued)
  const reader = new Database(file)
  onTestFinished(() => void reader.close())
  reader.pragma('wal_checkpoint(PASSIVE)')
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM jobmill_job').get()
  truncateSync(`${file}-wal`, 32 + 4_120)
  // The next frame would follow a hole.
  expect(await one.enqueue()).toBe('STORE_UNAVAILABLE')
  ids.push(...(await twice(one.enqueued)))
  await one.kill()
  for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${file}.copy${end}`)
  expect(lostFrom(`${file}.copy`, ids)).toEqual([])
})

test('D2 D3 P1 an older copy of all three files is copied over them: no job gets the kind of another', async () => {
  const file = freshFile()
  const [prod, other] = [sqlite(file), sqlite(file)]
  for (const store of [prod, other]) onTestFinished(() => store.close())
  await prod.open()
  await prod.enqueue([aJob({ kind: 'base', queue: 'base' })])
  for (const end of ['', '-wal', '-shm']) copyFileSync(`${file}${end}`, `${file}.copy${end}`)
  await prod.enqueue([aJob({ kind: 'mail', queue: 'mail' })])
  for (const end of ['', '-wal', '-shm']) copyFileSync(`${file}.copy${end}`, `${file}${end}`)
  await other.open()
  await other.enqueue([aJob({ kind: 'wipe', queue: 'wipe' })])
  const job = aJob({ kind: 'mail', queue: 'mail' })
  await prod.enqueue([job])
  expect(await other.get([job.id])).toMatchObject([{ kind: 'mail', queue: 'mail' }])
})

test('D3 P10 a user transaction on the previous file is refused', async () => {
  const file = freshFile()
  const store = sqlite(file)
  onTestFinished(() => store.close())
  await store.open()
  await store.enqueue([aJob()])
  const app = new Database(file)
  onTestFinished(() => void app.close())
  const backup = `${file}.backup`
  await app.backup(backup)
  rmSync(file)
  copyFileSync(backup, file)
  await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await store.counts()
  app.exec('BEGIN IMMEDIATE')
  await expect(store.enqueue([aJob()], { tx: app })).rejects.toMatchObject({
    code: 'TX_INVALID',
    message: expect.stringContaining('a different database file') as string,
  })
  app.exec('ROLLBACK')
})
