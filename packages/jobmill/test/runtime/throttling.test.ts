/** Throttled: the queue cools down for all instances, and the job spends no attempt. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, Throttled } from '../../src/index.ts'
import { happened, subjects } from './stores.ts'

const eventsOf = (mill: { events: readonly { type: string }[] }, type: string): unknown[] =>
  mill.events.filter((event) => event.type === type)

/** A job that throws Throttled while `refuse` is set. */
function limited() {
  const upstream = { refuse: true, calls: 0, retryAfter: undefined as string | undefined }
  const job = defineJob({
    kind: 'call',
    queue: 'upstream',
    maxAttempts: 1,
    run({ attempt }: JobContext<null>) {
      upstream.calls += 1
      if (upstream.refuse)
        throw new Throttled(upstream.retryAfter === undefined ? {} : { retryAfter: upstream.retryAfter })
      return attempt
    },
  })
  return { upstream, job }
}

describe.each(subjects)('throttling on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('with a retryAfter, the queue claims nothing for exactly that long, and spends no attempt', async () => {
    const { upstream, job } = limited()
    upstream.retryAfter = '30s'
    const other = defineJob({ kind: 'other', run: () => 1 })
    const mill = await create({ jobs: [job, other], queues: { upstream: { workers: 1 } } })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
    const next = await mill.enqueue(job, null)
    upstream.refuse = false
    // drain() may have advanced the clock.
    const queues = await mill.queues()
    const leftMs = queues.find(({ name }) => name === 'upstream')?.coolingMs ?? 0
    await mill.clock.advance(leftMs - 1)
    expect(upstream.calls).toBe(1)
    expect(await mill.get(next.id)).toMatchObject({ state: 'ready', attempt: 0 })
    expect(await (await mill.enqueue(other, null)).result()).toBe(1)
    await mill.clock.advance(1)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
    expect(await mill.get(next.id)).toMatchObject({ state: 'done' })
    expect(happened(mill, id).filter((type) => type !== 'enqueued')).toEqual([
      'started',
      'throttled',
      'started',
      'finished',
    ])
    expect(eventsOf(mill, 'queue-cooling')).toMatchObject([{ queue: 'upstream', forMs: 30_000 }])
    expect(eventsOf(mill, 'queue-resumed')).toMatchObject([{ queue: 'upstream' }])
  })

  test('without one, the backoff of the queue counts throttles and not workers, and resets after a quiet time', async () => {
    const { upstream, job } = limited()
    const mill = await create({
      jobs: [job],
      queues: { upstream: { workers: 5, backoff: { base: '10s', max: '1h' } } },
    })
    await mill.enqueueMany(
      job,
      Array.from({ length: 5 }, () => ({ payload: null })),
    )
    await mill.drain()
    const cooling = async (): Promise<object | undefined> =>
      (await mill.queues()).find(({ name }) => name === 'upstream')
    // Five refused workers count as one throttle.
    expect(upstream.calls).toBe(5)
    expect(await cooling()).toMatchObject({ coolingMs: 10_000, throttles: 1 })
    await mill.clock.advance(10_000)
    await mill.drain()
    expect(upstream.calls).toBe(10)
    expect(await cooling()).toMatchObject({ coolingMs: 20_000, throttles: 2 })
    upstream.refuse = false
    await mill.clock.advance(20_000)
    await mill.drain()
    expect(upstream.calls).toBe(15)
    // A success does not reset the backoff; two minutes without a throttle do.
    upstream.refuse = true
    await mill.clock.advance('2m')
    await mill.enqueue(job, null)
    await mill.drain()
    expect(await cooling()).toMatchObject({ coolingMs: 10_000, throttles: 1 })
  })

  test('with the backoff off, Throttled without a time still cools the queue down for a minute', async () => {
    const { upstream, job } = limited()
    const mill = await create({ jobs: [job], queues: { upstream: { backoff: { enabled: false } } } })
    await mill.enqueue(job, null)
    await mill.drain()
    await mill.clock.advance(59_999)
    expect(upstream.calls).toBe(1)
    upstream.refuse = false
    await mill.clock.advance(1)
    await mill.drain()
    expect(upstream.calls).toBe(2)
  })

  test('a retryAfter above a day is refused by name, and counts as a failure', async () => {
    const { upstream, job } = limited()
    upstream.retryAfter = '25h'
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect((await mill.get(id))?.error).toContain('Throttled.retryAfter: must not be longer than 24 hours')
  })
})
