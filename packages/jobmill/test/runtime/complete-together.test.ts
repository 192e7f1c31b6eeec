// What commits together with complete(tx): jobs enqueued with the completion and the outcomes of other jobs.
// Also covers synchronous transactions.
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { Dead, defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { testMill } from '../../src/testing/index.ts'
import { completeScene as scene } from './complete-scene.ts'
import { places } from './places.ts'

describe.each(places)('P10 on $name: jobs enqueued with the completion', ({ create }) => {
  const at = create()

  test('P10 exist once after the commit, and not before', async () => {
    let before: unknown
    const { mill, job, queue } = await scene(at, async ({ complete, enqueue }, { tx, ...client }) => {
      const { id } = await enqueue('after', 'x', { withCompletion: true })
      await client.begin()
      await complete(tx)
      before = await mill.get(id)
      await client.commit()
    })
    await mill.enqueue(job, null)
    await mill.drain()
    expect(before).toBeNull()
    expect((await mill.list({ queue, kind: 'after' })).jobs).toMatchObject([{ state: 'done' }])
  })

  test('D8 P11 under one id are one job: the first, and the outcome is written', async () => {
    const id = '00000000-0000-7000-8000-00000000000a'
    const { mill, job, queue } = await scene(at, async ({ enqueue, enqueueMany }) => {
      await enqueue('after', 'first', { id, tags: ['t'], withCompletion: true })
      await enqueue('after', 'again', { id: id.toUpperCase(), tags: ['t'], withCompletion: true })
      await enqueueMany('after', [{ id, payload: 'many', tags: ['t'] }], { withCompletion: true })
    })
    const made = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(made.id)).toMatchObject({ state: 'done', attempt: 1 })
    expect(await mill.get(id)).toMatchObject({ state: 'done', payload: 'first' })
    expect((await mill.list({ queue, kind: 'after' })).jobs).toHaveLength(1)
  })

  test('P10 do not exist after a rollback or a failed attempt', async () => {
    const { mill, job, queue } = await scene(
      at,
      async ({ complete, enqueue, attempt }, { tx, ...client }) => {
        await enqueue('after', `attempt ${attempt}`, { withCompletion: true })
        if (attempt === 1) throw new Error('failed')
        await client.begin()
        await complete(tx)
        await (attempt === 2 ? client.rollBack() : client.commit())
      },
    )
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 3 })
    const { jobs } = await mill.list({ queue, kind: 'after' })
    expect(jobs).toHaveLength(1)
    expect(await mill.get(jobs[0]?.id ?? '')).toMatchObject({ payload: 'attempt 3', state: 'done' })
  })

  test('P10 that are requested after the completion are refused or written, never silently lost', async () => {
    let refused = false
    const { mill, job, queue } = await scene(at, async ({ complete, enqueue }, { tx, ...client }) => {
      await client.begin()
      await complete(tx)
      await enqueue('after', 'late', { withCompletion: true }).catch(() => (refused = true))
      await client.commit()
    })
    await mill.enqueue(job, null)
    await mill.drain()
    const written = (await mill.list({ queue, kind: 'after' })).jobs.length
    expect(refused || written === 1).toBe(true)
  })
})

describe('P10 on postgres: a transaction that stays open', () => {
  test('P10 delays the outcome of its own job, and of no other', async () => {
    const at = places.find(({ name }) => name === 'postgres')?.create()
    if (at === undefined) throw new Error('there is PostgreSQL')
    const opened = Promise.withResolvers<void>()
    const { mill, user, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await complete(tx, 'slow')
      setImmediate(opened.resolve)
    })
    const slow = await mill.enqueue(job, null)
    await opened.promise
    const others = await mill.enqueueMany('after', [{ payload: 'a' }, { payload: 'b' }])
    expect(await Promise.all(others.map((one) => one.result()))).toEqual(['a', 'b'])
    expect(await mill.get(slow.id)).toMatchObject({ state: 'running' })
    await user.commit()
    await mill.drain()
    expect(await mill.get(slow.id)).toMatchObject({ state: 'done', result: 'slow' })
  })
})

describe('P10 on postgres: two completions at the same time', () => {
  test('H6 P10 the second is refused at once, without waiting for the transaction of the first', async () => {
    const at = places.find(({ name }) => name === 'postgres')?.create()
    if (at === undefined) throw new Error('there is PostgreSQL')
    const second = await at.connect()
    const { mill, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await second.begin()
      const settled = await Promise.allSettled([complete(tx, 'A'), complete(second.tx, 'A')])
      expect(settled).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'HANDLER_INVALID', field: 'complete' } },
      ])
      await second.rollBack()
      await client.commit()
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'A', attempt: 1 })
  })
})

describe('P10 on sqlite: complete in the synchronous transaction of the driver', () => {
  test('P10 it is written when the call returns, with follow-ups, and commits with the rows', async () => {
    const path = freshFile()
    const db = new Database(path)
    onTestFinished(() => void db.close())
    const states = (): unknown => db.prepare('SELECT state FROM jobmill_job ORDER BY pk').pluck().all()
    let inside: unknown
    const job = defineJob({
      kind: 'job',
      async run({ complete, enqueue }) {
        await enqueue('job.after', null, { withCompletion: true, delay: '1h' })
        const before = states()
        const calls: Promise<void>[] = []
        db.transaction(() => {
          db.exec(`INSERT INTO person VALUES ('Ada')`)
          calls.push(complete(db, 'kept'))
          inside = [before, states()]
        })()
        await Promise.all(calls)
      },
    })
    const mill = jobmill({ store: sqlite(path), jobs: [job], log: 'silent' })
    onTestFinished(async () => void (await mill.stop({ grace: 0 })))
    await mill.start()
    db.exec('CREATE TABLE person (name TEXT)')
    const one = await mill.enqueue(job, null)
    expect(await one.result({ timeout: '10s' })).toBe('kept')
    // Before complete(): the job is running. After it: the job is done, and its follow-up is scheduled.
    expect(inside).toEqual([[2], [3, 0]])
    expect(db.prepare('SELECT name FROM person').pluck().all()).toEqual(['Ada'])
  })
})

test('D7 sqlite: jobs enqueued with the completion are bounded like one call, because one transaction writes them', async () => {
  const refused: unknown[] = []
  const items = Array.from({ length: 33 }, () => ({ payload: 'x'.repeat(1_000_000) }))
  const many = defineJob({
    kind: 'many',
    async run({ enqueue, enqueueMany }: JobContext) {
      for (let call = 0; call < 3; call += 1)
        await enqueueMany('after', items, { withCompletion: true }).catch((error: unknown) =>
          refused.push(error),
        )
      await enqueue('after', 'small', { withCompletion: true })
      throw new Dead('enough')
    },
  })
  const mill = await testMill({ jobs: [many] })
  onTestFinished(() => mill[Symbol.asyncDispose]())
  const { id } = await mill.enqueue(many, null)
  await mill.drain()
  expect(await mill.get(id)).toMatchObject({ state: 'dead' })
  expect(refused).toMatchObject([
    {
      code: 'PAYLOAD_TOO_LARGE',
      retryable: false,
      message:
        'withCompletion: the jobs of one completion exceed 64 MiB (got 95 MiB). Enqueue some of them without withCompletion.',
    },
  ])
})
