// The store caches the leases that it gave. Whatever happened to their rows since, a finish must act as if it
// had read them.
import { assert, describe, expect, test } from 'vitest'
import type { Finish } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  aClaim,
  aJob,
  anInstance,
  anAcquire,
  KIND,
  QUEUE,
  someJobs,
} from '../../../conformance/src/factories.ts'
import { freshFile, openStore } from './support.ts'

const MANY = 20

const done = ({ id, token }: { id: string; token: number }, result: string | null = null): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result },
})

const forgotten = (lease: { id: string; token: number }): Finish => ({
  ...done(lease),
  transition: { to: 'done', result: null, forget: true },
})

async function claimed(jobs = someJobs(Array.from({ length: MANY }, () => ({})))) {
  const path = freshFile()
  const [store, other] = [await openStore(path), await openStore(path)]
  const instance = anInstance()
  await store.instances.register(instance)
  await store.enqueue(jobs)
  const leases = await store.claim(aClaim(instance.id))
  assert.lengthOf(leases, jobs.length)
  const [lease] = leases
  assert.isDefined(lease)
  return { store, other, instance, leases, lease }
}

async function outcomes(store: FullStore, ids: readonly string[]): Promise<string[]> {
  const histories = await Promise.all(ids.map((id) => store.history(id)))
  return histories.map((attempts) => attempts.map(({ outcome }) => outcome).join(' '))
}

describe('cached leases', () => {
  test('P2 a finish is refused for a job that another process released; the other items of the call and the turn are written once', async () => {
    const { store, other, leases, lease } = await claimed()
    const released = { ...lease, outcome: null, transition: { to: 'ready' } } as const
    await other.finish([{ id: lease.id, token: lease.token, outcome: null, transition: released.transition }])
    const [, finished] = await Promise.all([
      store.enqueue([aJob({ queue: 'beside' })]),
      store.finish(leases.map((one) => done(one))),
    ])
    assert.deepEqual(
      finished.map(({ accepted }) => accepted),
      leases.map((_, at) => at !== 0),
    )
    expect(await store.counts()).toMatchObject([
      { queue: 'beside', ready: 1 },
      { queue: QUEUE, ready: 1, running: 0, done: MANY - 1 },
    ])
    const expected = leases.map((_, at) => (at === 0 ? '' : 'returned'))
    assert.deepEqual(
      await outcomes(
        store,
        leases.map(({ id }) => id),
      ),
      expected,
    )
  })

  test('P3 a finish that another process wrote with the same token is accepted and recorded once', async () => {
    const { store, other, leases } = await claimed()
    await other.finish(leases.slice(0, 5).map((one) => done(one, '1')))
    const finished = await store.finish(leases.map((one) => done(one, '2')))
    assert.isTrue(finished.every(({ accepted, state }) => accepted && state === 'done'))
    const results = await store.results(leases.map(({ id }) => id))
    assert.deepEqual(
      results.map((one) => one?.result),
      leases.map((_, at) => (at < 5 ? '1' : '2')),
    )
    expect(await store.counts()).toMatchObject([{ running: 0, done: MANY }])
  })

  test('a finish includes a log and a permit that another process wrote', async () => {
    const { store, other, instance, leases, lease } = await claimed()
    await other.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
    await other.progress([{ id: lease.id, token: lease.token, log: 'noted' }])
    const [second] = leases.slice(1)
    assert.isDefined(second)
    const take = anAcquire('few', { holder: second.id, token: second.token, instance: instance.id })
    assert.deepEqual(await other.limits.acquire([take]), [{ outcome: 'granted', waitMs: 0 }])
    await store.finish(leases.map((one) => done(one)))
    assert.equal((await store.history(lease.id))[0]?.log, 'noted')
    assert.equal((await store.limits.list())[0]?.held, 0)
  })

  test('one call can have separate results, a job twice, and other transitions', async () => {
    const { store, leases, lease } = await claimed()
    const dead: Finish = { id: lease.id, token: lease.token, outcome: 'failed', transition: { to: 'dead' } }
    const finishes = leases.map((one, at) => done(one, `{"at":${at}}`))
    const finished = await store.finish([dead, ...finishes, ...finishes])
    assert.isTrue(finished.every(({ accepted }) => accepted))
    assert.deepEqual(
      finished.map(({ state }) => state),
      [dead, ...finishes, ...finishes].map(({ id }) => (id === lease.id ? 'dead' : 'done')),
    )
    const results = await store.results(leases.map(({ id }) => id))
    assert.deepEqual(
      results.map((one) => one?.result),
      leases.map((_, at) => (at === 0 ? null : `{"at":${at}}`)),
    )
    expect(await store.counts()).toMatchObject([{ running: 0, done: MANY - 1, dead: 1 }])
  })

  test('jobs that are deleted when done leave nothing behind, whatever they had', async () => {
    const jobs = someJobs(
      Array.from({ length: MANY }, (_, at) => ({
        ...(at % 4 === 1 ? { tags: ['t'] } : {}),
        ...(at % 4 === 2 ? { dedupe: { key: `k${at}` } } : {}),
      })),
    )
    const { store, leases, lease, instance } = await claimed(jobs)
    // With a history: one more attempt.
    await store.finish([
      {
        id: lease.id,
        token: lease.token,
        outcome: 'failed',
        transition: { to: 'scheduled', delayMs: 0, refund: false },
      },
    ])
    const [again] = await store.claim(aClaim(instance.id))
    assert.isDefined(again)
    const finished = await store.finish([again, ...leases.slice(1)].map(forgotten))
    assert.isTrue(finished.every(({ accepted, state }) => accepted && state === 'done'))
    assert.deepEqual(
      await store.get(leases.map(({ id }) => id)),
      leases.map(() => null),
    )
    expect(await store.counts()).toMatchObject([{ running: 0, done: 0, ready: 0 }])
    assert.isEmpty((await store.list({ tags: ['t'] }, { limit: 10 })).jobs)
    const replies = await store.enqueue(jobs.map((job) => ({ ...job, id: aJob().id })))
    assert.isTrue(replies.every(({ outcome }) => outcome === 'enqueued'))
  })
})

describe('directly dispatched jobs', () => {
  test('are finished like claimed ones, one by one and many at once', async () => {
    const store = await openStore()
    const instance = anInstance()
    await store.instances.register(instance)
    for (const size of [1, MANY]) {
      const jobs = someJobs(Array.from({ length: size }, (_, at) => ({ tags: at % 5 === 4 ? ['t'] : [] })))
      const directDispatch = { instance: instance.id, queues: [{ queue: QUEUE, room: size }], kinds: [KIND] }
      const leases = (await store.enqueue(jobs, { directDispatch })).flatMap(({ lease }) => lease ?? [])
      assert.lengthOf(leases, size)
      const finished = await store.finish(leases.map((one) => done(one)))
      assert.isTrue(finished.every(({ accepted }) => accepted))
      const histories = await outcomes(
        store,
        jobs.map(({ id }) => id),
      )
      assert.deepEqual(new Set(histories), new Set(['returned']))
    }
    expect(await store.counts()).toMatchObject([{ running: 0, done: MANY + 1 }])
  })

  test('P2 with an existing or repeated id are leased once or not at all', async () => {
    const store = await openStore()
    const instance = anInstance()
    await store.instances.register(instance)
    const [first, ...jobs] = someJobs(Array.from({ length: MANY }, () => ({})))
    assert.isDefined(first)
    await store.enqueue([{ ...first, queue: 'elsewhere' }])
    const directDispatch = { instance: instance.id, queues: [{ queue: QUEUE, room: 100 }], kinds: [KIND] }
    const replies = await store.enqueue([first, ...jobs, ...jobs], { directDispatch })
    assert.deepEqual(
      replies.map(({ lease }) => lease?.id),
      [undefined, ...jobs.map(({ id }) => id), ...jobs.map(() => undefined)],
    )
    assert.lengthOf(await store.instances.held(instance.id), jobs.length)
    const leases = replies.flatMap(({ lease }) => lease ?? [])
    await store.finish(leases.map((one) => done(one)))
    assert.isEmpty(await store.instances.held(instance.id))
  })
})

test('P3 calls of one turn share a transaction, and an invalid one fails alone', async () => {
  const store = await openStore()
  const good = Array.from({ length: 5 }, () => aJob())
  // A value that the checks would refuse: the store itself must refuse it, and only it.
  const bad = { ...aJob(), priority: 0.5 }
  const settled = await Promise.allSettled([...good, bad].map((job) => store.enqueue([job])))
  assert.deepEqual(
    settled.map(({ status }) => status),
    [...good.map(() => 'fulfilled'), 'rejected'],
  )
  expect(await store.counts()).toMatchObject([{ ready: good.length }])
})
