// Jobs enqueued in a transaction of the application exist only if it commits. A mill finds them at the next
// heartbeat, or at once after a wake().
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { defineJob, isJobmillError, jobmill, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { rejection } from '../unit/support.ts'
import { faultyMill, type Place, places } from './places.ts'

const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<number>) => payload })

/** A mill that receives no notifications, so it finds jobs only by polling. */
async function deafMill(at: Place) {
  const mill = await faultyMill(at, { jobs: [echo], start: false })
  mill.store.hold('notifier.wait')
  await mill.start()
  // The mill has polled an empty queue, so it polls again at the next heartbeat.
  await mill.platform.advance('1s')
  return mill
}

describe.each(places)('P10 on $name: enqueue in a transaction', ({ create }) => {
  test('P10 committed, the job exists with the row, and not before', async () => {
    const at = create()
    const mill = await at.mill({ jobs: [echo], start: false })
    await mill.queues()
    const user = await at.connect()
    const other = await at.connect(user.table)
    await user.begin()
    await user.insert('Ada')
    const job = await mill.enqueue(echo, 1, { tx: user.tx })
    expect(job.outcome).toBe('enqueued')
    expect([await mill.get(job.id), await other.names()]).toEqual([null, []])
    await user.commit()
    expect(await mill.get(job.id)).toMatchObject({ state: 'ready', payload: 1 })
    expect(await other.names()).toEqual(['Ada'])
  })

  test('P10 rolled back, neither the job nor the row exists, and the dedupe key is free', async () => {
    const at = create()
    const mill = await at.mill({ jobs: [echo] })
    const user = await at.connect()
    await user.begin()
    await user.insert('Ada')
    const { id } = await mill.enqueue(echo, 1, { tx: user.tx, dedupeKey: 'k' })
    const many = await mill.enqueueMany(echo, [{ payload: 2 }, { payload: 3 }], { tx: user.tx })
    expect(many).toHaveLength(2)
    await user.rollBack()
    mill.wake()
    await mill.clock.advance('2s')
    expect([await mill.get(id), (await mill.list()).jobs, await user.names()]).toEqual([null, [], []])
    expect((await mill.enqueue(echo, 4, { dedupeKey: 'k' })).outcome).toBe('enqueued')
  })

  test('P10 committed, the next heartbeat finds the job, without a notification', async () => {
    const at = create()
    const mill = await deafMill(at)
    const user = await at.connect()
    await user.begin()
    const { id } = await mill.enqueue(echo, 1, { tx: user.tx })
    await user.commit()
    await mill.platform.settled()
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })
    await mill.platform.advance('1s')
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
  })

  test('P10 committed, wake() finds the job at once, without moving the clock', async () => {
    const at = create()
    const mill = await deafMill(at)
    const user = await at.connect()
    await user.begin()
    const { id } = await mill.enqueue(echo, 1, { tx: user.tx })
    await user.commit()
    const now = mill.clock.now()
    mill.wake()
    await mill.platform.settled()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
    expect(mill.clock.now()).toBe(now)
  })

  test('P10 its result can be awaited before the commit', async () => {
    const at = create()
    const mill = await at.mill({ jobs: [echo] })
    const user = await at.connect()
    await user.begin()
    const job = await mill.enqueue(echo, 42, { tx: user.tx })
    const result = job.result()
    // A lookup that does not find the job yet must not end the wait for its result.
    await mill.store.results([job.id])
    await user.commit()
    await mill.clock.advance('1s')
    expect(await result).toBe(42)
  })

  test('P10 an invalid transaction is refused, and nothing is written', async () => {
    const at = create()
    const mill = await at.mill({ jobs: [echo] })
    const user = await at.connect()
    for (const tx of [user.tx, {}, 42]) {
      expect((await rejection(() => mill.enqueue(echo, 1, { tx }))).code).toBe('TX_INVALID')
    }
    expect((await mill.list()).jobs).toEqual([])
  })
})

/** The error code of a rejection; null when the call resolves. */
const rejectionCode = (call: Promise<unknown>): Promise<string | null> =>
  call.then(
    () => null,
    (error: unknown) => (isJobmillError(error) ? error.code : String(error)),
  )

/** A mill in real time, and a database handle on the same file. */
async function scene() {
  const path = freshFile()
  const mill = jobmill({ store: sqlite(path), jobs: [echo], log: 'silent' })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  await mill.start()
  const db = new Database(path)
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE person (name TEXT)')
  const jobs = (): unknown => db.prepare('SELECT count(*) FROM jobmill_job').pluck().get()
  return { mill, db, jobs }
}

describe('P10 on sqlite: enqueue in the synchronous transaction of the driver', () => {
  test('P10 the job is written when the call returns, and commits with the transaction of the driver', async () => {
    const { mill, db, jobs } = await scene()
    const writing = db.transaction(() => {
      db.exec(`INSERT INTO person VALUES ('Ada')`)
      const job = mill.enqueue(echo, 7, { tx: db })
      const many = mill.enqueueMany(echo, [{ payload: 8 }, { payload: 9 }], { tx: db })
      expect(jobs()).toBe(3)
      return [job, many] as const
    })()
    const [one, many] = await Promise.all(writing)
    expect(await one.result({ timeout: '10s' })).toBe(7)
    expect(await Promise.all(many.map((job) => job.result({ timeout: '10s' })))).toEqual([8, 9])
  })

  test('P10 an error in the transaction rolls back the job with the row', async () => {
    const { mill, db, jobs } = await scene()
    const calls: Promise<unknown>[] = []
    const failing = db.transaction(() => {
      db.exec(`INSERT INTO person VALUES ('Ada')`)
      calls.push(mill.enqueue(echo, 7, { tx: db }))
      throw new Error('not today')
    })
    expect(() => failing()).toThrow('not today')
    await Promise.all(calls)
    expect([jobs(), db.prepare('SELECT count(*) FROM person').pluck().get()]).toEqual([0, 0])
  })

  test('P10 the first call of a mill that is not open yet is written or refused, but never outside the transaction', async () => {
    const { mill, db, jobs } = await scene()
    await mill.stop()
    const fresh = jobmill({ store: sqlite(db.name), jobs: [echo], log: 'silent' })
    onTestFinished(async () => void (await fresh.stop({ grace: 0 })))
    const codes: unknown[] = []
    const calls: Promise<unknown>[] = []
    const written = db.transaction(() => {
      calls.push(rejectionCode(fresh.enqueue(echo, 7, { tx: db })).then((code) => codes.push(code)))
      return jobs()
    })()
    await Promise.all(calls)
    expect(
      written === 1 || codes.includes('STORE_CLOSED'),
      `${String(written)} written, ${codes.join()}`,
    ).toBe(true)
  })
})

describe.each(places)('on $name: a call of many megabytes', ({ create }) => {
  test('D7 is prepared and written without blocking the event loop, and all of its jobs exist', async () => {
    const text = defineJob({ kind: 'text', run: ({ payload }: JobContext<string>) => payload.length })
    const mill = await create().mill({ jobs: [text], start: false })
    await mill.queues()
    let turns = 0
    const count = (): void => void ((turns += 1), setImmediate(count).unref())
    count()
    const items = Array.from({ length: 32 }, (_, n) => ({ payload: String(n % 10).repeat(256 * 1024) }))
    const jobs = await mill.enqueueMany(text, items)
    expect(turns).toBeGreaterThan(16)
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(32)
    expect(await mill.counts()).toMatchObject([{ ready: 32 }])
    expect(await mill.get(jobs.at(-1)?.id ?? '')).toMatchObject({ payload: items.at(-1)?.payload })
    const repeated = [
      ...items.slice(0, 6),
      { payload: 'x', id: jobs[0]?.id },
      { payload: 'y', id: jobs[0]?.id },
    ]
    await expect(mill.enqueueMany(text, repeated as typeof items)).rejects.toMatchObject({
      code: 'ID_REPEATED',
      index: 7,
    })
  })
})
