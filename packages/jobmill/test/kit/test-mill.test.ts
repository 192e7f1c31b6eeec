// A mill on a fake clock: time, leases, its events, and its end.
import { z } from 'zod'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { defineJob, type JobContext, type Mill, type FullStore } from '../../src/index.ts'
import { sqlite, type SqliteTx } from '../../src/sqlite.ts'
import {
  faultyStore,
  type TestMill,
  testMill,
  type TestPlatform,
  testPlatform,
} from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { echo, flaky, gatedJob, turns } from './support.ts'

const types = (mill: TestMill): string[] => mill.events.map(({ type }) => type)

/** A store in memory that keeps no done jobs. */
function forgetting({ now }: TestPlatform): FullStore<SqliteTx> {
  const store = sqlite(':memory:', { clock: now })
  const finish: typeof store.finish = (items, options) =>
    store.finish(
      items.map((item) => ({ ...item, transition: { ...item.transition, forget: true } })),
      options,
    )
  return { ...store, finish }
}

describe('a test mill', () => {
  test('is started, runs enqueued jobs, and returns results without moving the clock', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const startedAt = mill.clock.now()
    const job = await mill.enqueue(echo, { n: 42 })
    expect(await job.result()).toBe(42)
    // Requested after the end through another handle: it must ask the store, since no worker reports it.
    expect(await mill.job(echo, job.id).result()).toBe(42)
    expect(mill.clock.now()).toBe(startedAt)
  })

  test('returns the result of a job that is not retained to a caller in the same process', async () => {
    await using mill = await testMill({ jobs: [echo], store: forgetting })
    const job = await mill.enqueue(echo, { n: 42 })
    expect(await job.result()).toBe(42)
    expect(await job.result()).toBe(42)
    expect(await mill.get(job.id)).toBe(null)
    await mill.enqueue(echo, { n: 43 })
    await mill.drain()
    expect(types(mill).filter((type) => type === 'finished')).toHaveLength(2)
  })

  test('retries a job with a backoff of five minutes after five minutes, and not before', async () => {
    await using mill = await testMill({ jobs: [flaky] })
    const { id } = await mill.enqueue(flaky, { failures: 1 })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    await mill.clock.advance('4m59s999ms')
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    await mill.clock.advance(1)
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 2 })
  })

  test('runs a delayed job when the clock reaches it, and not before, without a wake-up', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const startAt = mill.clock.now()
    const { id } = await mill.enqueue(echo, { n: 1 }, { delay: '10m' })
    await mill.platform.advance('9m59s')
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled' })
    await mill.platform.advance('1s')
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    expect(mill.events.find(({ type }) => type === 'started')).toMatchObject({
      at: startAt + 600_000,
    })
  })

  test.each([1, 50, 599])(
    'runs a job with a delay of %i ms, shorter than a heartbeat, on time',
    async (delay) => {
      await using mill = await testMill({ jobs: [echo] })
      const { id } = await mill.enqueue(echo, { n: 1 }, { delay })
      await mill.clock.advance(delay - 1)
      expect(await mill.get(id)).toMatchObject({ state: 'scheduled' })
      await mill.clock.advance(1)
      expect(await mill.get(id)).toMatchObject({ state: 'done' })
    },
  )

  test('keeps its lease for ten minutes: renewals follow the test clock', async () => {
    const { job, entered, open } = gatedJob()
    await using mill = await testMill({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    await mill.clock.advance('10m')
    const [instance] = await mill.instances()
    expect(instance).toMatchObject({ state: 'alive' })
    expect(instance?.renewedAt).toBeGreaterThan(mill.clock.now() - 4_000)
    expect(signal.aborted).toBe(false)
    open('opened')
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0, result: 'opened' })
    expect(types(mill)).not.toContain('instance-lost')
  })

  test('fires the timeout of a job when the clock reaches it', async () => {
    const slow = defineJob({
      kind: 'slow',
      timeout: '5m',
      maxAttempts: 1,
      run: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    })
    await using mill = await testMill({ jobs: [slow] })
    const { id } = await mill.enqueue(slow, null)
    await mill.clock.advance('4m59s')
    expect(await mill.get(id)).toMatchObject({ state: 'running' })
    await mill.clock.advance('1s')
    expect(await mill.get(id)).toMatchObject({ state: 'dead' })
  })

  test('lists the enqueued jobs from every caller, in order and with types', async () => {
    const parent = defineJob({
      kind: 'parent',
      async run({ enqueue }) {
        await enqueue(echo, { n: 2 }, { delay: '1h' })
        await enqueue('echo', { n: 3 }, { withCompletion: true, queue: 'other' })
      },
    })
    await using mill = await testMill({ jobs: [echo, parent] })
    await mill.enqueueMany(echo, [{ payload: { n: 0 } }, { payload: { n: 1 }, dedupeKey: 'one' }])
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    await mill.enqueue(echo, { n: 4 }, { dedupe: { key: 'four' }, delay: 1 })
    await mill.enqueue(echo, { n: 5 }, { dedupe: { key: 'four' } })
    await mill.enqueue(echo, { n: 6 }, { dedupe: { key: 'four', onConflict: 'replace' } })
    const records = mill
      .enqueued()
      .map(({ kind, queue, payload, outcome }) => [kind, queue, payload, outcome])
    expect(records).toEqual([
      ['echo', 'default', { n: 0 }, 'enqueued'],
      ['echo', 'default', { n: 1 }, 'enqueued'],
      ['parent', 'default', null, 'enqueued'],
      ['echo', 'default', { n: 2 }, 'enqueued'],
      ['echo', 'other', { n: 3 }, 'enqueued'],
      ['echo', 'default', { n: 4 }, 'enqueued'],
      ['echo', 'default', { n: 5 }, 'duplicate'],
      ['echo', 'default', { n: 6 }, 'replaced'],
    ])
    expect(mill.enqueued(parent)).toMatchObject([
      { id, kind: 'parent', queue: 'default', payload: null, outcome: 'enqueued' },
    ])
    expect(mill.enqueued('parent')).toHaveLength(1)
    expectTypeOf(mill.enqueued(echo)).items.toHaveProperty('payload').toEqualTypeOf<{ n: number }>()
  })

  test('lists all lifecycle events', async () => {
    await using mill = await testMill({ jobs: [flaky] })
    const startAt = mill.clock.now()
    const { id } = await mill.enqueue(flaky, { failures: 1 })
    await mill.drain({ scheduled: true })
    const own = mill.events.filter((event) => 'id' in event && event.id === id)
    expect(own.map(({ type }) => type).toSorted()).toEqual(
      ['enqueued', 'started', 'retried', 'started', 'finished'].toSorted(),
    )
    expect(own.at(-1)).toMatchObject({ type: 'finished', at: startAt + 300_000 })
  })

  test('that is not started enqueues, runs nothing, and can be started later', async () => {
    await using mill = await testMill({ jobs: [echo], start: false })
    const { id } = await mill.enqueue(echo, { n: 1 })
    await mill.clock.advance('1h')
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })
    expect((await rejection(() => mill.drain())).code).toBe('MILL_NOT_STARTED')
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
  })

  test('accepts the options of a mill, and refuses others by name', async () => {
    const queues: string[] = []
    await using mill = await testMill({
      jobs: [echo],
      route: { ec: 'quick' },
      middleware: [
        async (context, next) => {
          queues.push(context.job.queue)
          return next()
        },
      ],
    })
    await mill.enqueue(echo, { n: 1 })
    await mill.drain()
    expect(queues).toEqual(['quick'])
    expect((await rejection(() => testMill({ job: [echo] } as object))).message).toContain('"jobs"')
    const wrong = await rejection(() => testMill({ middleware: ['no'] as never, jobs: [echo] }))
    expect(wrong.message).toContain('middleware[0]')
    const none = await rejection(() => testMill({ jobs: [echo], store: () => undefined as never }))
    expect([none.code, none.field]).toEqual(['OPTION_INVALID', 'store'])
  })

  test('ignores the environment variables of the test process', async () => {
    process.env['JOBMILL_QUEUES'] = 'elsewhere'
    onTestFinished(() => void delete process.env['JOBMILL_QUEUES'])
    await using mill = await testMill({ jobs: [echo] })
    expect(mill.queuesServed).toEqual(['default'])
  })

  test('is a mill, with the transactions of its store', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const any: Mill = mill
    expect(any.instance).toBe(mill.instance)
    expectTypeOf(mill).toEqualTypeOf<TestMill<SqliteTx>>()
  })

  test('validates payloads', async () => {
    const strict = defineJob({ kind: 'strict', payload: z.object({ to: z.email() }), run: () => {} })
    await using mill = await testMill({ jobs: [strict] })
    const error = await rejection(() => mill.enqueue(strict, { to: 'nobody' }))
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(mill.enqueued()).toEqual([])
  })
})

describe('the end of a test mill', () => {
  test('leaves no timer behind', async () => {
    const mill = await testMill({ jobs: [echo, flaky] })
    await mill.enqueue(flaky, { failures: 2 })
    await mill.enqueue(echo, { n: 1 }, { delay: '1h' })
    await mill.clock.advance('10m')
    expect(mill.platform.pendingTimers).toBeGreaterThan(0)
    await mill.stop()
    expect(mill.platform.pendingTimers).toBe(0)
    expect(types(mill).at(-1)).toBe('mill-stopped')
  })

  test('with stop gives handlers their grace period on the test clock', async () => {
    const { job, entered, open } = gatedJob()
    await using mill = await testMill({ jobs: [job] })
    await mill.enqueue(job, null)
    const signal = await entered
    const stopping = mill.stop()
    await mill.platform.advance('24s')
    expect(signal.aborted).toBe(false)
    open('in time')
    expect(await stopping).toMatchObject({ finished: 1, interrupted: 0 })
  })

  test('at the end of its block comes even if a handler does not return', async () => {
    const { job, entered } = gatedJob()
    let mill: TestMill | undefined
    {
      await using inner = await testMill({ jobs: [job] })
      mill = inner
      await inner.enqueue(job, null)
      await entered
    }
    expect(types(mill).at(-1)).toBe('mill-stopped')
    expect((await entered).aborted).toBe(true)
    expect(mill.platform.pendingTimers).toBe(0)
  })

  test('at the end of its block comes even if the store does not answer', async () => {
    const platform = testPlatform()
    const store = faultyStore(sqlite(':memory:', { clock: platform.now }))
    {
      await using mill = await testMill({ jobs: [echo], platform, store: () => store })
      store.fail('finish', { times: Number.POSITIVE_INFINITY })
      store.hold('instances.deregister').release()
      await mill.enqueue(echo, { n: 1 })
      await platform.settled()
    }
    expect(platform.pendingTimers).toBe(0)
  })

  test('can be repeated, and after stop there is nothing left to end', async () => {
    const mill = await testMill({ jobs: [echo] })
    await mill.stop()
    await mill[Symbol.asyncDispose]()
    expect(types(mill).filter((type) => type === 'mill-stopped')).toHaveLength(1)
    expect((await rejection(() => mill.drain())).code).toBe('MILL_NOT_STARTED')
  })
})

describe('a handler', () => {
  test('can take real time: moving the clock does not wait for it, drain does', async () => {
    const real = defineJob({
      kind: 'real',
      async run({ payload }: JobContext<number>) {
        await turns(50)
        return payload
      },
    })
    await using mill = await testMill({ jobs: [real] })
    const { id } = await mill.enqueue(real, 7)
    await mill.clock.advance(0)
    expect(await mill.get(id)).toMatchObject({ state: 'running' })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 7 })
  })
})
