// Draining: which jobs count as left, which do not, and when it ends.
import { describe, expect, test } from 'vitest'
import { Dead, defineJob, type JobContext, Snooze, Throttled } from '../../src/index.ts'
import { DrainError, testMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { echo, flaky, turns } from './support.ts'

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('drain', () => {
  test('ends at once without jobs, despite heartbeat and duties', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const before = mill.clock.now()
    await mill.drain()
    await mill.drain({ scheduled: true })
    await mill.clock.advance('1m')
    await mill.drain({ scheduled: true })
    expect(mill.clock.now()).toBe(before + 60_000)
  })

  test('runs all ready jobs, even more than workers, and leaves those due later', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const jobs = await mill.enqueueMany(
      echo,
      Array.from({ length: 100 }, (_, n) => ({ payload: { n } })),
    )
    const later = await mill.enqueue(echo, { n: 0 }, { delay: '10m' })
    const before = mill.clock.now()
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: 100, ready: 0, running: 0, scheduled: 1 })
    expect(mill.clock.now()).toBe(before)
    await mill.drain({ scheduled: true })
    expect(await mill.get(later.id)).toMatchObject({ state: 'done' })
    expect(mill.clock.now()).toBe(before + 600_000)
    expect(jobs).toHaveLength(100)
  })

  test('waits for handlers that take real time', async () => {
    const real = defineJob({ kind: 'real', run: () => turns(200) })
    await using mill = await testMill({ jobs: [real] })
    await mill.enqueueMany(real, [{ payload: null }, { payload: null }])
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: 2 })
  })

  test('waits for user middleware around a handler', async () => {
    await using mill = await testMill({
      jobs: [echo],
      middleware: [async (_, next) => (await turns(200), next())],
    })
    const before = mill.clock.now()
    await mill.enqueue(echo, { n: 1 })
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: 1 })
    expect(mill.clock.now()).toBe(before)
  })

  test('runs the jobs that handlers enqueue', async () => {
    const chain = defineJob({
      kind: 'chain',
      async run({ payload, enqueue }: JobContext<number>) {
        if (payload > 0) await enqueue('chain', payload - 1, { withCompletion: payload % 2 === 0 })
      },
    })
    await using mill = await testMill({ jobs: [chain] })
    await mill.enqueue(chain, 30)
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: 31 })
  })

  test('with scheduled, runs retries at their times until the job is done or dead', async () => {
    await using mill = await testMill({ jobs: [flaky] })
    const before = mill.clock.now()
    const saved = await mill.enqueue(flaky, { failures: 2 })
    const lost = await mill.enqueue(flaky, { failures: 9 }, { maxAttempts: 3 })
    await mill.drain({ scheduled: true })
    expect(await mill.get(saved.id)).toMatchObject({ state: 'done', attempt: 3 })
    expect(await mill.get(lost.id)).toMatchObject({ state: 'dead', attempt: 3 })
    expect(mill.clock.now()).toBe(before + 600_000)
  })

  test('with scheduled, waits for a snooze and a cool-down; without, for neither', async () => {
    const once = defineJob({
      kind: 'once',
      run({ payload, job }: JobContext<'snooze' | 'throttle'>) {
        if (orders.has(job.id)) return
        orders.add(job.id)
        if (payload === 'snooze') throw new Snooze('2m')
        throw new Throttled({ retryAfter: '3m' })
      },
    })
    const orders = new Set<string>()
    await using mill = await testMill({ jobs: [once], route: (kind) => `queue-of-${kind}` })
    const before = mill.clock.now()
    await mill.enqueue(once, 'snooze')
    await mill.enqueue(once, 'throttle')
    await mill.drain()
    expect(mill.clock.now()).toBe(before)
    expect((await mill.counts())[0]).toMatchObject({ scheduled: 1, ready: 1, done: 0 })
    await mill.drain({ scheduled: true })
    expect((await mill.counts())[0]).toMatchObject({ done: 2 })
    expect(mill.clock.now()).toBe(before + 180_000)
  })

  test('runs onDead, and jobs that wait for their order key', async () => {
    const died: string[] = []
    const doomed = defineJob({
      kind: 'doomed',
      run: () => {
        throw new Dead('no use')
      },
      onDead: ({ error }) => void died.push(error),
    })
    const order: number[] = []
    const inOrder = defineJob({
      kind: 'in-order',
      run: ({ payload }: JobContext<number>) => void order.push(payload),
    })
    await using mill = await testMill({ jobs: [doomed, inOrder] })
    await mill.enqueue(doomed, null)
    for (const n of [1, 2, 3]) await mill.enqueue(inOrder, n, { orderKey: 'same' })
    await mill.drain()
    expect(died).toEqual(['Dead: no use'])
    expect(order).toEqual([1, 2, 3])
    expect(mill.enqueued('doomed:dead')).toHaveLength(1)
  })

  test('leaves jobs that this mill would not run: paused, foreign kind, without workers, not served', async () => {
    await using mill = await testMill({
      jobs: [echo],
      queues: { idle: { workers: 0 } },
      serve: ['default', 'paused', 'idle'],
    })
    await mill.pause('paused')
    await mill.enqueue(echo, { n: 1 }, { queue: 'paused' })
    await mill.enqueue(echo, { n: 1 }, { queue: 'idle' })
    await mill.enqueue(echo, { n: 1 }, { queue: 'elsewhere' })
    await mill.enqueue('foreign', null)
    await mill.enqueue('foreign', null, { delay: '1m' })
    await mill.drain({ scheduled: true })
    const counts = await mill.counts()
    expect(counts.reduce((sum, { ready }) => sum + ready, 0)).toBe(5)
    await mill.serve('elsewhere')
    await mill.drain()
    expect((await mill.counts()).find(({ queue }) => queue === 'elsewhere')).toMatchObject({ done: 1 })
  })

  test('stops with an error that names a job that never ends', async () => {
    const tick = defineJob({
      kind: 'tick',
      run: () => {
        throw new Snooze('1s')
      },
    })
    await using mill = await testMill({ jobs: [tick] })
    await mill.enqueue(tick, null)
    const error = await failure(mill.drain({ scheduled: true, rounds: 30 }))
    expect(error).toBeInstanceOf(DrainError)
    expect((error as Error).message).toMatch(
      /work is left after 30 rounds; jobs of these kinds keep starting: tick/,
    )
    expect((error as DrainError).kinds['tick']).toBeGreaterThan(10)
  })

  test('stops with an error that names a kind that enqueues itself endlessly', async () => {
    const chain = defineJob({
      kind: 'chain',
      run: async ({ enqueue }: JobContext<null>) => void (await enqueue('chain', null)),
    })
    await using mill = await testMill({ jobs: [chain] })
    await mill.enqueue(chain, null)
    const error = await failure(mill.drain({ rounds: 50 }))
    expect(Object.keys((error as DrainError).kinds)).toEqual(['chain'])
    expect((error as DrainError).kinds['chain']).toBeGreaterThanOrEqual(50)
  })

  test('does not count many existing jobs as endless', async () => {
    await using mill = await testMill({ jobs: [echo] })
    await mill.enqueueMany(
      echo,
      Array.from({ length: 300 }, (_, n) => ({ payload: { n } })),
    )
    await mill.drain({ rounds: 5 })
    expect((await mill.counts())[0]).toMatchObject({ done: 300 })
  })

  test('refuses unknown options', async () => {
    await using mill = await testMill({ jobs: [echo] })
    expect((await rejection(() => mill.drain({ schedule: true } as object))).message).toContain('"scheduled"')
    expect((await rejection(() => mill.drain({ rounds: 0 }))).field).toBe('options.rounds')
  })
})

describe('drain and limits', () => {
  const limited = defineJob({
    kind: 'limited',
    run: async ({ limit, now }) => {
      await limit.acquire('slow')
      return now()
    },
  })

  test('handlers that wait for a limit get their tokens, and the clock moves only that far', async () => {
    await using mill = await testMill({ jobs: [limited], limits: { slow: { rate: 2, per: '1s', burst: 1 } } })
    const from = mill.clock.now()
    const jobs = await mill.enqueueMany(limited, [{ payload: null }, { payload: null }, { payload: null }])
    await mill.drain({ scheduled: true })
    const instants = await Promise.all(jobs.map((job) => job.result()))
    expect(instants.map((at) => at - from)).toEqual([0, 500, 1_000])
    expect(mill.clock.now() - from).toBeLessThanOrEqual(2_000)
  })

  test('with scheduled, drains a limited queue', async () => {
    await using mill = await testMill({
      jobs: [defineJob({ kind: 'plain', run: () => null })],
      limits: { slow: { rate: 1, per: '10s' } },
      queues: { default: { limit: 'slow' } },
    })
    await mill.enqueueMany('plain', [{ payload: null }, { payload: null }, { payload: null }])
    await mill.drain({ scheduled: true })
    expect((await mill.counts())[0]).toMatchObject({ done: 3, ready: 0 })
  })
})
