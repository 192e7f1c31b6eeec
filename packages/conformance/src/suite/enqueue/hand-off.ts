/** Direct dispatch: jobs are leased on insert to the instance that enqueues them. */
import assert from 'node:assert/strict'
import { aHandOff, aJob, KIND, QUEUE } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { handOff, placesOf } from './hand-off-helpers.ts'
import { hasFields, pluck, enqueued, countsOf } from '../looks.ts'

export const handOffCases: readonly Case[] = [
  test('P2 a directly dispatched job is running, under a lease like that of a claim', async (t) => {
    const instance = await t.worker()
    const request = { payload: { a: 1 }, priority: 3, tags: ['t'], timeout: 500, maxAttempts: 7 }
    const { ids, leases } = await handOff(t, instance, [{ ...request, metadata: { m: 1 } }])
    const [id = ''] = ids
    const now = t.clock.now()
    const token = leases[0]?.token ?? 0
    const crashes = 0
    const times = { enqueuedAt: now, readyAt: now, waitedMs: 0 }
    const lease = { id, token, kind: KIND, queue: QUEUE, priority: 3, attempt: 1, maxAttempts: 7, crashes }
    const rest = { payload: '{"a":1}', timeoutMs: 500, tags: ['t'], metadata: '{"m":1}', orderKey: null }
    assert.deepEqual(leases, [{ ...lease, ...rest, ...times }])
    await t.jobIs(id, { state: 'running', attempt: 1, startedAt: now, dueAt: null, endedAt: null })
    assert.deepEqual(await t.claim(await t.worker()), [])
  }),
  test('P2 the leases of one call share a token that is higher than all before', async (t) => {
    const instance = await t.worker()
    const claimed = await t.running({}, instance)
    const tokens = [claimed.token]
    for (let round = 0; round < 3; round += 1) {
      const { leases } = await handOff(t, instance, [{}, { queue: 'other' }, { priority: -1 }], {
        queues: [QUEUE, 'other'].map((queue) => ({ queue, room: 9 })),
      })
      assert.deepEqual([leases.length, new Set(leases.map(({ token }) => token)).size], [3, 1])
      tokens.push(leases[0]?.token ?? 0)
      tokens.push((await t.running({}, instance)).token)
    }
    assert.deepEqual(
      tokens,
      [...new Set(tokens)].toSorted((a, b) => a - b),
    )
  }),
  test('P4 P9 an instance that is unknown, expired, lost or stopped is dispatched nothing', async (t) => {
    const [expires, stops] = [await t.worker({ leaseMs: 1_000 }), await t.worker({ leaseMs: HOUR })]
    // Each call uses its own queue, because a leftover ready job would block the next one.
    let n = 0
    const many = async (instance: string): Promise<number> => {
      n += 1
      const queue = `q${n}`
      return (await placesOf(t, instance, [{ queue }], { queues: [{ queue, room: 1 }] })).length
    }
    assert.equal(await many(aJob().id), 0)
    t.clock.advance(999)
    assert.equal(await many(expires), 1)
    t.clock.advance(1)
    assert.equal(await many(expires), 0)
    await t.reap()
    assert.equal(await many(expires), 0)
    assert.equal(await many(stops), 1)
    await t.store.instances.deregister(stops)
    assert.equal(await many(stops), 0)
  }),
  test('P14 only jobs of the named kinds are dispatched directly', async (t) => {
    const instance = await t.worker({ kinds: ['a', 'b', 'c'] })
    const requests = ['a', 'b', 'c', 'a'].map((kind) => ({ kind }))
    assert.deepEqual(await placesOf(t, instance, requests, { kinds: ['a', 'c'] }), [0, 2, 3])
    await t.claim(instance, { kinds: ['b'] })
    assert.deepEqual(await placesOf(t, instance, requests, { kinds: [] }), [])
  }),
  test('P9 jobs that are due now are dispatched: without a delay, or at an instant that has passed', async (t) => {
    const instance = await t.worker()
    const now = t.clock.now()
    const requests = [
      { runAt: now },
      { runAt: now - HOUR },
      { runAt: now + 1 },
      { delay: 1 },
      { delay: 0 },
      {},
    ]
    assert.deepEqual(await placesOf(t, instance, requests), [0, 1, 4, 5])
    assert.deepEqual(await countsOf(t.store), { running: 4, scheduled: 2 })
  }),
  test('jobs with a dedupe key or an order key are enqueued as usual, without direct dispatch', async (t) => {
    const instance = await t.worker()
    const requests = [{ dedupe: { key: 'k' } }, {}, { orderKey: 'o' }, { dedupe: { key: 'l' } }]
    const { ids, places } = await handOff(t, instance, requests)
    assert.deepEqual(places, [1])
    assert.deepEqual(await countsOf(t.store), { running: 1, ready: 2, scheduled: 1 })
    const again = aJob({ dedupe: { key: 'k' } })
    const reply = await t.store.enqueue([again], { handOff: aHandOff(instance) })
    assert.deepEqual(reply, [{ id: ids[0], outcome: 'duplicate' }])
    assert.equal((await t.store.stage(10)).ready, 1)
  }),
  {
    name: 'P10 nothing is dispatched directly in a transaction of the user',
    needs: ['transactions'],
    async run(t) {
      const instance = await t.worker()
      const [one, two] = [aJob(), aJob()]
      const reply = await t.transaction(
        (tx) => t.store.enqueue([one, two], { tx, handOff: aHandOff(instance) }),
        'commit',
      )
      assert.deepEqual(reply, enqueued(pluck([one, two], 'id')))
      assert.deepEqual(await countsOf(t.store), { ready: 2 })
    },
  },
  test('P11 a call that may repeat another dispatches nothing, neither new nor running jobs', async (t) => {
    const instance = await t.worker()
    const [first, second] = [aJob(), aJob()]
    const options = { handOff: aHandOff(instance) }
    const [reply] = await t.store.enqueue([first], options)
    assert.equal(reply?.lease?.id, first.id)
    const again = await t.store.enqueue([first, second], { ...options, mayRepeat: true })
    assert.deepEqual(again, enqueued(pluck([first, second], 'id')))
    assert.deepEqual(await countsOf(t.store), { running: 1, ready: 1 })
    // An instance that lost the reply learns which jobs it holds.
    assert.deepEqual(await t.store.instances.held(instance), [
      { id: first.id, token: reply?.lease?.token, ageMs: 0 },
    ])
    const third = aJob()
    hasFields((await t.store.enqueue([third], { ...options, mayRepeat: false }))[0], { lease: undefined })
    await t.claim(instance)
    const fourth = aJob()
    const [free] = await t.store.enqueue([fourth], { ...options, mayRepeat: false })
    assert.equal(free?.lease?.id, fourth.id)
  }),
]
