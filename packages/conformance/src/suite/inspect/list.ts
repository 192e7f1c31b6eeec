/** Listings: the order of each state, pages, cursors and filters. */
import assert from 'node:assert/strict'
import { JOB_STATES } from 'jobmill/store'
import { someJobs, rooms } from '../../factories.ts'
import { DONE, HOUR, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, idsOf, listAll, rejectsWith } from '../looks.ts'

export const listCases: readonly Case[] = [
  test('all states: newest id first', async ({ store, jobIn }) => {
    const ids: string[] = []
    for (const state of JOB_STATES) ids.push(await jobIn(state))
    for (const limit of [500, 6, 4, 1])
      assert.deepEqual(await idsOf(store, {}, limit), ids.toSorted().toReversed())
  }),
  test('scheduled: by due time, jobs in an order queue included', async (t) => {
    const { store, enqueue, running, finish } = t
    const lease = await running()
    const [last, first] = [await enqueue({ delay: 300 }), await enqueue({ delay: 100 })]
    await finish(lease, later(200))
    const inLine = await enqueue({ orderKey: 'o' })
    for (const limit of [500, 2, 1]) {
      assert.deepEqual(await idsOf(store, { state: 'scheduled' }, limit), [inLine, first, lease.id, last])
    }
  }),
  test('ready: in claim order', async ({ store, clock, worker, claim, finish, enqueue }) => {
    await store.enqueue(
      someJobs(Array.from({ length: 12 }, (_, n) => ({ priority: (n % 3) - 1, queue: `q${n % 2}` }))),
    )
    await enqueue({ queue: 'q0', delay: 5 })
    clock.advance(5)
    await store.stage(10)
    const instance = await worker()
    const queues = rooms({ q0: 50, q1: 50 })
    for (const lease of await claim(instance, { queues, limit: 3 })) await finish(lease, later(0))
    const listed = await idsOf(store, { state: 'ready' })
    for (const limit of [5, 1]) assert.deepEqual(await idsOf(store, { state: 'ready' }, limit), listed)
    const leases = await claim(instance, { queues })
    assert.deepEqual(listed, pluck(leases, 'id'))
  }),
  test('running: by start', async ({ store, clock, enqueue, worker, claimOne }) => {
    const [one, two, three] = [
      await enqueue({ kind: 'a' }),
      await enqueue({ kind: 'b' }),
      await enqueue({ kind: 'c' }),
    ]
    const instance = await worker()
    for (const kind of ['b', 'c', 'a']) {
      await claimOne(instance, { kinds: [kind] })
      clock.advance(1)
    }
    for (const limit of [500, 1])
      assert.deepEqual(await idsOf(store, { state: 'running' }, limit), [two, three, one])
  }),
  test('ended: newest first', async ({ store, clock, jobIn }) => {
    for (const state of ['done', 'dead', 'cancelled'] as const) {
      const ids: string[] = []
      for (let n = 0; n < 5; n += 1) {
        ids.unshift(await jobIn(state))
        clock.advance(1)
      }
      for (const limit of [500, 5, 2, 1]) assert.deepEqual(await idsOf(store, { state }, limit), ids, state)
    }
  }),
  test('pages neither repeat nor skip jobs of the same instant', async ({ store, clock, worker, claim }) => {
    await store.enqueue(someJobs(Array.from({ length: 23 }, () => ({}))))
    await store.enqueue(someJobs(Array.from({ length: 23 }, () => ({ delay: HOUR }))))
    const leases = await claim(await worker(), { limit: 23 })
    assert.equal(new Set(await idsOf(store, { state: 'running' }, 4)).size, 23)
    assert.equal(new Set(await idsOf(store, { state: 'scheduled' }, 4)).size, 23)
    await store.finish(leases.map((lease) => aFinish(lease, DONE)))
    const done = await idsOf(store, { state: 'done' }, 4)
    assert.deepEqual([done.length, new Set(done).size], [23, 23])
    assert.deepEqual(done, await idsOf(store, { state: 'done' }))
    clock.advance(HOUR)
    await store.stage(100)
    assert.equal(new Set(await idsOf(store, { state: 'ready' }, 4)).size, 23)
  }),
  test('a page continues where the last one ended although jobs come and go', async ({ store, enqueue }) => {
    const ids = [await enqueue(), await enqueue(), await enqueue(), await enqueue()]
    const first = await store.list({}, { limit: 2 })
    assert.deepEqual(pluck(first.jobs, 'id'), [ids[3], ids[2]])
    await enqueue()
    await store.delete([ids[2] ?? '', ids[3] ?? ''])
    const second = await store.list({}, { limit: 2, cursor: first.next ?? undefined })
    assert.deepEqual(pluck(second.jobs, 'id'), [ids[1], ids[0]])
  }),
  test('the last page says so; a page that is not full is complete', async ({ store, enqueue }) => {
    for (let n = 0; n < 3; n += 1) await enqueue()
    const { jobs, next, complete, scanned } = await store.list({}, { limit: 10 })
    assert.deepEqual([jobs.length, next, complete], [3, null, true])
    assert.ok(scanned >= 3)
    const empty = await store.list({ queue: 'unheard-of' }, { limit: 10 })
    assert.deepEqual([empty.jobs, empty.next, empty.complete], [[], null, true])
    const first = await store.list({}, { limit: 2 })
    assert.deepEqual([first.jobs.length, first.complete, typeof first.next], [2, true, 'string'])
  }),
  test('filters by queue, kind, state and tags, alone and together', async ({ store, enqueue }) => {
    const ids = [
      await enqueue({ queue: 'a', kind: 'x', tags: ['red', 'big'] }),
      await enqueue({ queue: 'a', kind: 'y', tags: ['red'] }),
      await enqueue({ queue: 'b', kind: 'x', tags: ['big'], delay: HOUR }),
      await enqueue({ queue: 'b', kind: 'y', delay: HOUR }),
    ]
    const filters = [
      [{ queue: 'a' }, [0, 1]],
      [{ kind: 'x' }, [0, 2]],
      [{ state: 'scheduled' }, [2, 3]],
      [{ tags: ['red'] }, [0, 1]],
      [{ tags: ['big', 'red'] }, [0]],
      [{ tags: ['re'] }, []],
      [{ tags: ['RED'] }, []],
      [{ tags: [] }, [0, 1, 2, 3]],
      [{ queue: 'b', kind: 'x', state: 'scheduled', tags: ['big'] }, [2]],
      [{ queue: 'b', state: 'ready' }, []],
      [{ kind: 'unheard-of' }, []],
    ] as const
    for (const [filter, expected] of filters) {
      for (const limit of [500, 1]) {
        const page = await idsOf(store, filter, limit)
        assert.deepEqual(new Set(page), new Set(expected.map((n) => ids[n])), JSON.stringify(filter))
        assert.equal(page.length, expected.length)
      }
    }
  }),
  test('filters by the time of enqueuing: from included, before excluded', async (t) => {
    const { store, clock, enqueue } = t
    const times: number[] = []
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) {
      times.push(clock.now())
      ids.push(await enqueue())
      clock.advance(10)
    }
    const [first = 0, second = 0, third = 0] = times
    assert.deepEqual(await idsOf(store, { enqueuedFrom: second }), [ids[2], ids[1]])
    assert.deepEqual(await idsOf(store, { enqueuedBefore: second }), [ids[0]])
    assert.deepEqual(await idsOf(store, { enqueuedFrom: first + 1, enqueuedBefore: third }), [ids[1]])
  }),
  test('filters by a text in the payload, literally', async ({ store, enqueue }) => {
    const odd = `50% of_it's \\ "so"`
    const [one, two] = [await enqueue({ payload: { to: 'Ada' } }), await enqueue({ payload: [odd] })]
    await enqueue({ payload: { to: 'ada' } })
    await enqueue({ payload: '50x of it', metadata: { to: 'Ada' } })
    assert.deepEqual(await idsOf(store, { payloadText: '"to":"Ada"' }), [one])
    assert.deepEqual(await idsOf(store, { payloadText: 'Ada' }), [one])
    assert.deepEqual(await idsOf(store, { payloadText: '50%' }), [two])
    assert.deepEqual(await idsOf(store, { payloadText: `of_it's` }), [two])
    assert.deepEqual(await idsOf(store, { payloadText: JSON.stringify(odd) }), [two])
    assert.deepEqual(await idsOf(store, { payloadText: 'nowhere' }), [])
  }),
  test('rare matches among many are found through every page', async ({ store }) => {
    const jobs = someJobs(
      Array.from({ length: 2_500 }, (_, n) => (n % 500 === 499 ? { tags: ['rare'] } : {})),
    )
    await store.enqueue(jobs.slice(0, 1_000))
    await store.enqueue(jobs.slice(1_000))
    const rare = jobs.filter(({ tags }) => tags.length > 0).map(({ id }) => id)
    for (const limit of [10, 2]) {
      assert.deepEqual(await idsOf(store, { tags: ['rare'] }, limit), rare.toSorted().toReversed())
      assert.deepEqual(await idsOf(store, { state: 'ready', tags: ['rare'] }, limit), rare)
    }
  }),
  test('a summary matches the job itself', async ({ store, jobIn }) => {
    for (const state of JOB_STATES) await jobIn(state, { tags: ['t'], priority: 3 })
    const listed = await listAll(store)
    const records = await store.get(listed.map(({ id }) => id))
    for (const [n, summary] of listed.entries()) {
      const record = records[n]
      assert.ok(record)
      assert.deepEqual({ ...record, ...summary }, record)
    }
  }),
  test('an unknown cursor and one of another listing are rejected', async ({ store, enqueue }) => {
    for (let n = 0; n < 3; n += 1) await enqueue()
    await rejectsWith('CURSOR_INVALID', () => store.list({}, { limit: 1, cursor: 'nonsense' }))
    const { next } = await store.list({ state: 'ready' }, { limit: 1 })
    assert.ok(next)
    await rejectsWith('CURSOR_INVALID', () => store.list({ state: 'done' }, { limit: 1, cursor: next }))
  }),
]
