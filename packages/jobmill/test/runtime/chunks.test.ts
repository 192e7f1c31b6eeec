/** Chunk handlers: one call for many jobs, each with its own lease, attempt and outcome. On both stores. */
import { describe, expect, test as onBoth } from 'vitest'
import { z } from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import {
  type ChunkContext,
  Dead,
  declareJob,
  defineJob,
  implement,
  jobmill,
  Snooze,
} from '../../src/index.ts'
import { runJob } from '../../src/testing/index.ts'
import { attempts, happened, lent, subjects } from './stores.ts'

interface Page {
  readonly page: number
}

const pages = (count: number): { payload: Page }[] =>
  Array.from({ length: count }, (_, page) => ({ payload: { page } }))

function indexing(
  run: (context: ChunkContext<Page>) => unknown = () => null,
  { size = 4, maxAttempts = 3 }: { size?: number; maxAttempts?: number } = {},
) {
  const calls: number[][] = []
  const job = defineJob({
    kind: 'page.index',
    chunk: { size, wait: '200ms' },
    backoff: { fixed: 0 },
    maxAttempts,
    run(context: ChunkContext<Page>) {
      calls.push(context.jobs.map(({ payload }) => payload.page).toSorted((a, b) => a - b))
      return run(context)
    },
  })
  return { job, calls }
}

describe.each(subjects)('chunks on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  onBoth(
    'P2 P3 a handler gets up to the size of a chunk per call, and every job ends with its own outcome',
    async () => {
      const { job, calls } = indexing()
      const mill = await create({ jobs: [job] })
      const handles = await mill.enqueueMany(job, pages(10))
      await mill.drain()
      expect(calls.flat().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(calls.map(({ length }) => length).toSorted((a, b) => b - a)).toEqual([4, 4, 2])
      for (const { id } of handles) expect(await attempts(mill, id)).toEqual([['returned', null]])
      expect(await handles[0]?.result()).toBeUndefined()
    },
  )

  test('a chunk by group has jobs of one group', async () => {
    const calls: string[][] = []
    const job = defineJob({
      kind: 'page.index',
      group: 'tenant',
      chunk: { size: 3, wait: '200ms', by: 'group' },
      run({ jobs }: ChunkContext<{ tenant: string }>) {
        calls.push(jobs.map(({ payload }) => payload.tenant))
      },
    })
    const mill = await create({ jobs: [job] })
    const tenants = ['a', 'b', 'a', 'a', 'b', 'a']
    await mill.enqueueMany(
      job,
      tenants.map((tenant) => ({ payload: { tenant } })),
    )
    await mill.drain()
    expect(calls.every((call) => new Set(call).size === 1)).toBe(true)
    expect(calls.map(({ length }) => length).toSorted((a, b) => b - a)).toEqual([3, 2, 1])
  })

  test('a job that fails is retried alone, and the others are done', async () => {
    let fails = true
    const { job, calls } = indexing(({ jobs }) => {
      for (const one of jobs) if (one.payload.page === 2 && fails) one.fail(new Error('page 2 is locked'))
      fails = false
    })
    const mill = await create({ jobs: [job] })
    const handles = await mill.enqueueMany(job, pages(4))
    await mill.drain({ scheduled: true })
    expect(calls).toEqual([[0, 1, 2, 3], [2]])
    expect(await attempts(mill, handles[2]?.id ?? '')).toMatchObject([
      ['failed', expect.stringContaining('page 2 is locked')],
      ['returned', null],
    ])
    expect(await attempts(mill, handles[1]?.id ?? '')).toEqual([['returned', null]])
  })

  test('Dead, Snooze and a thrown error have their usual meaning for each job', async () => {
    let isFirst = true
    const { job } = indexing(({ jobs }) => {
      if (!isFirst) return
      isFirst = false
      for (const { payload, fail } of jobs) {
        if (payload.page === 0) fail(new Dead('gone'))
        if (payload.page === 1) fail(new Snooze('1m'))
      }
      throw new Error('the index is down')
    })
    const mill = await create({ jobs: [job] })
    const handles = await mill.enqueueMany(job, pages(4))
    await mill.drain({ scheduled: true })
    const outcomes = await Promise.all(
      handles.map(async ({ id }) => (await attempts(mill, id)).map(([outcome]) => outcome)),
    )
    expect(outcomes).toEqual([
      ['failed-permanently'],
      ['snoozed', 'returned'],
      ['failed', 'returned'],
      ['failed', 'returned'],
    ])
  })

  test('a lone job waits for others no longer than it may', async () => {
    const { job, calls } = indexing()
    const mill = await create({ jobs: [job] })
    await mill.start()
    const { id } = await mill.enqueue(job, { page: 7 })
    await expect.poll(async () => (await mill.get(id))?.state).toBe('running')
    await mill.clock.advance(199)
    expect(calls).toEqual([])
    await mill.clock.advance(1)
    await expect.poll(async () => (await mill.get(id))?.state).toBe('done')
    expect(calls).toEqual([[7]])
  })

  test('P8 a job that is cancelled while it waits is in no chunk, and the others are', async () => {
    const { job, calls } = indexing()
    const mill = await create({ jobs: [job] })
    await mill.start()
    const [first, second] = await mill.enqueueMany(job, pages(2))
    await expect.poll(async () => (await mill.get(second?.id ?? ''))?.state).toBe('running')
    await mill.cancel(first?.id ?? '', 'not needed')
    await mill.drain()
    expect((await mill.get(first?.id ?? ''))?.state).toBe('cancelled')
    expect((await mill.get(second?.id ?? ''))?.state).toBe('done')
    expect(calls).toEqual([[1]])
  })

  test('P8 cancelling a job aborts its own signal; that of the chunk aborts with the last one', async () => {
    const started = Promise.withResolvers<ChunkContext<Page>>()
    const over = Promise.withResolvers<void>()
    const { job } = indexing(
      async (context) => {
        started.resolve(context)
        await over.promise
        context.signal.throwIfAborted()
      },
      { size: 2 },
    )
    const mill = await create({ jobs: [job] })
    await mill.start()
    const [first, second] = await mill.enqueueMany(job, pages(2))
    const { jobs, signal } = await started.promise
    const signalOf = (id: string | undefined) => jobs.find((one) => one.job.id === id)?.signal
    await mill.cancel(first?.id ?? '')
    await mill.clock.advance('3s')
    await expect.poll(() => signalOf(first?.id)?.aborted).toBe(true)
    expect([signalOf(second?.id)?.aborted, signal.aborted]).toEqual([false, false])
    await mill.cancel(second?.id ?? '')
    await mill.clock.advance('3s')
    await expect.poll(() => signal.aborted).toBe(true)
    over.resolve()
    await mill.drain()
    expect(await mill.counts()).toMatchObject([{ cancelled: 2 }])
  })

  test('P6 a stop interrupts jobs that wait for a chunk and those in one, and spends no attempt', async () => {
    const started = Promise.withResolvers<void>()
    const { job } = indexing(
      ({ signal }) => {
        started.resolve()
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        )
      },
      { size: 2 },
    )
    const mill = await create({ jobs: [job] })
    await mill.start()
    const handles = await mill.enqueueMany(job, pages(3))
    await started.promise
    await mill.stop({ grace: 0 })
    for (const { id } of handles) {
      expect(happened(mill, id)).toContain('interrupted')
      expect(happened(mill, id)).not.toContain('retried')
    }
  })

  test('a payload that does not match its schema is in no chunk, and ends alone', async () => {
    const seen: number[] = []
    const job = defineJob({
      kind: 'page.index',
      payload: z.object({ page: z.int() }),
      chunk: { size: 2 },
      maxAttempts: 1,
      run({ jobs }) {
        seen.push(...jobs.map(({ payload }) => payload.page))
      },
    })
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, { page: 1 })
    const other = jobmill({ store: lent(mill), platform: mill.platform, log: 'silent' })
    const bad = await other.enqueue('page.index', { page: 'x' })
    await other.stop()
    await mill.drain()
    expect(seen).toEqual([1])
    expect((await mill.get(bad.id))?.state).not.toBe('done')
  })

  test('a chunk larger than its queue has workers, or than its limit permits, is refused with the fix', async () => {
    const { job } = indexing(undefined, { size: 50 })
    await expect(create({ jobs: [job] })).rejects.toThrow(
      'job page.index.chunk.size: is 50, and the queue "default" has 10 workers, one for each job of a chunk. ' +
        'Set queues.default.workers to 50 or more, or lower the size',
    )
    const queues = { default: { workers: 50, limit: 'db' } }
    await expect(create({ jobs: [job], queues, limits: { db: { concurrency: 4 } } })).rejects.toThrow(
      'job page.index.chunk.size: is 50, and the limit "db" of the queue "default" permits 4 jobs at once',
    )
  })
})

const define =
  (chunk: object, more: object = {}) =>
  () =>
    defineJob({ kind: 'a', run: () => null, ...more, chunk } as never)

onBoth('the options of a chunk are checked, and a schema for results is refused', () => {
  expect(define({})).toThrow('job a.chunk.size: must be a whole number (got undefined)')
  expect(define({ size: 1 })).toThrow(
    'job a.chunk.size: is out of bounds (got 1). Pass a whole number from 2 to',
  )
  expect(define({ size: 5, wait: '2m' })).toThrow('job a.chunk.wait: is out of bounds')
  expect(define({ size: 5, by: 'tenant' })).toThrow('by')
  expect(define({ size: 5 }, { result: z.string() })).toThrow('job a.chunk: cannot be combined with a schema')
})

onBoth('a declared kind is implemented with chunks, and runJob runs a chunk of one job', async () => {
  const declared = declareJob<Page>({ kind: 'page.index' })
  const job = implement(declared, {
    chunk: { size: 10 },
    run({ jobs }) {
      for (const one of jobs) {
        one.log('indexed', { page: one.payload.page })
        if (one.payload.page < 0) one.fail(new Error('there is no such page'))
      }
    },
  })
  expect(await runJob(job, { page: 3 })).toMatchObject({
    outcome: 'returned',
    log: [{ message: 'indexed', fields: { page: 3 } }],
  })
  expect(await runJob(job, { page: -1 })).toMatchObject({
    outcome: 'failed',
    error: new Error('there is no such page'),
  })
})

onBoth('a job cannot fail after its chunk has ended', async () => {
  let late: ((error: unknown) => void) | undefined
  const job = defineJob({
    kind: 'late',
    chunk: { size: 2 },
    run({ jobs }: ChunkContext<null>) {
      late = jobs[0]?.fail
    },
  })
  await runJob(job, null)
  expect(() => late?.(new Error('too late'))).toThrow('Call fail before the handler returns')
})
