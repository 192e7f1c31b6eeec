/** Listings: the order of each state, pages, cursors and filters. */
import assert from 'node:assert/strict'
import { JOB_STATES, type JobState, type NewJob } from 'jobmill/store'
import { aFinish, DONE, HOUR, later, rooms, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith, repeat } from '../looks.ts'

export const listCases: readonly Case[] = [
  test('all states: newest id first', async (t) => {
    const ids: string[] = []
    for (const state of JOB_STATES) ids.push(await t.jobIn(state))
    await t.lists({}, ids.toSorted().toReversed(), [500, 6, 4, 1])
  }),
  test('scheduled: by due time, jobs in an order queue included', async (t) => {
    const lease = await t.running()
    const [last, first] = [await t.enqueue({ delay: 300 }), await t.enqueue({ delay: 100 })]
    await t.finish(lease, later(200))
    const inLine = await t.enqueue({ orderKey: 'o' })
    await t.lists({ state: 'scheduled' }, [inLine, first, lease.id, last], [500, 2, 1])
  }),
  test('ready: in claim order', async (t) => {
    await t.store.enqueue(
      someJobs(Array.from({ length: 12 }, (_, n) => ({ priority: (n % 3) - 1, queue: `q${n % 2}` }))),
    )
    await t.enqueue({ queue: 'q0', delay: 5 })
    t.clock.advance(5)
    await t.store.stage(10)
    const instance = await t.worker()
    const queues = rooms({ q0: 50, q1: 50 })
    for (const lease of await t.claim(instance, { queues, limit: 3 })) await t.finish(lease, later(0))
    const listed = await t.idsOf({ state: 'ready' })
    await t.lists({ state: 'ready' }, listed, [5, 1])
    assert.deepEqual(await t.claimIds(instance, { queues }), listed)
  }),
  test('running: by start', async (t) => {
    for (const kind of ['a', 'b', 'c']) await t.enqueue({ kind })
    const instance = await t.worker()
    const ids: string[] = []
    for (const kind of ['b', 'c', 'a']) {
      ids.push((await t.claimOne(instance, { kinds: [kind] })).id)
      t.clock.advance(1)
    }
    await t.lists({ state: 'running' }, ids, [500, 1])
  }),
  test('ended: newest first', async (t) => {
    for (const state of ['done', 'dead', 'cancelled'] as const) {
      const ids: string[] = []
      for (let n = 0; n < 5; n += 1) {
        ids.unshift(await t.jobIn(state))
        t.clock.advance(1)
      }
      await t.lists({ state }, ids, [500, 5, 2, 1])
    }
  }),
  test('pages neither repeat nor skip jobs of the same instant', async (t) => {
    const [soon, late] = [someJobs(repeat({}, 23)), someJobs(repeat({ delay: HOUR }, 23))]
    await t.store.enqueue([...soon, ...late])
    const has = async (state: JobState, jobs: readonly NewJob[]): Promise<void> =>
      assert.deepEqual((await t.idsOf({ state }, 4)).toSorted(), pluck(jobs, 'id').toSorted())
    const leases = await t.claim(await t.worker(), { limit: 23 })
    await has('running', soon)
    await has('scheduled', late)
    await t.store.finish(leases.map((lease) => aFinish(lease, DONE)))
    await has('done', soon)
    await t.lists({ state: 'done' }, await t.idsOf({ state: 'done' }), [4])
    t.clock.advance(HOUR)
    await t.store.stage(100)
    await has('ready', late)
  }),
  test('a page continues where the last one ended although jobs come and go', async (t) => {
    const ids = [await t.enqueue(), await t.enqueue(), await t.enqueue(), await t.enqueue()]
    const first = await t.store.list({}, { limit: 2 })
    assert.deepEqual(pluck(first.jobs, 'id'), [ids[3], ids[2]])
    await t.enqueue()
    await t.store.delete([ids[2] ?? '', ids[3] ?? ''])
    const second = await t.store.list({}, { limit: 2, cursor: first.next ?? undefined })
    assert.deepEqual(pluck(second.jobs, 'id'), [ids[1], ids[0]])
  }),
  test('the last page says so; a page that is not full is complete', async (t) => {
    for (let n = 0; n < 3; n += 1) await t.enqueue()
    const { jobs, scanned, ...last } = await t.store.list({}, { limit: 10 })
    assert.deepEqual([jobs.length, last], [3, { next: null, complete: true }])
    assert.ok(scanned >= 3)
    const empty = await t.store.list({ queue: 'unheard-of' }, { limit: 10 })
    hasFields(empty, { jobs: [], next: null, complete: true })
    const first = await t.store.list({}, { limit: 2 })
    assert.deepEqual([first.jobs.length, first.complete, typeof first.next], [2, true, 'string'])
  }),
  test('filters by queue, kind, state and tags, alone and together', async (t) => {
    const ids = [
      await t.enqueue({ queue: 'a', kind: 'x', tags: ['red', 'big'] }),
      await t.enqueue({ queue: 'a', kind: 'y', tags: ['red'] }),
      await t.enqueue({ queue: 'b', kind: 'x', tags: ['big'], delay: HOUR }),
      await t.enqueue({ queue: 'b', kind: 'y', delay: HOUR }),
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
        const listed = (await t.idsOf(filter, limit)).toSorted()
        assert.deepEqual(listed, expected.map((n) => ids[n] ?? '').toSorted(), JSON.stringify(filter))
      }
    }
  }),
  test('filters by the time of enqueuing: from included, before excluded', async (t) => {
    const start = t.clock.now()
    const first = await t.enqueue()
    t.clock.advance(10)
    const second = await t.enqueue()
    t.clock.advance(10)
    const third = await t.enqueue()
    await t.lists({ enqueuedFrom: start + 10 }, [third, second])
    await t.lists({ enqueuedBefore: start + 10 }, [first])
    await t.lists({ enqueuedFrom: start + 1, enqueuedBefore: start + 20 }, [second])
  }),
  test('filters by a text in the payload, literally', async (t) => {
    const odd = `50% of_it's \\ "so"`
    const [one, two] = [await t.enqueue({ payload: { to: 'Ada' } }), await t.enqueue({ payload: [odd] })]
    await t.enqueue({ payload: { to: 'ada' } })
    await t.enqueue({ payload: '50x of it', metadata: { to: 'Ada' } })
    await t.lists({ payloadText: '"to":"Ada"' }, [one])
    await t.lists({ payloadText: 'Ada' }, [one])
    await t.lists({ payloadText: '50%' }, [two])
    await t.lists({ payloadText: `of_it's` }, [two])
    await t.lists({ payloadText: JSON.stringify(odd) }, [two])
    await t.lists({ payloadText: 'nowhere' }, [])
  }),
  test('rare matches among many are found through every page', async (t) => {
    const jobs = someJobs(
      Array.from({ length: 2_500 }, (_, n) => (n % 500 === 499 ? { tags: ['rare'] } : {})),
    )
    await t.store.enqueue(jobs.slice(0, 1_000))
    await t.store.enqueue(jobs.slice(1_000))
    const rare = jobs.filter(({ tags }) => tags.length > 0).map(({ id }) => id)
    await t.lists({ tags: ['rare'] }, rare.toSorted().toReversed(), [10, 2])
    await t.lists({ state: 'ready', tags: ['rare'] }, rare, [10, 2])
  }),
  test('a page reads at most mostScanned rows, and the next one continues there', async (t) => {
    const rare = await t.enqueue({ kind: 'rare' })
    await t.store.enqueue(someJobs(repeat({ kind: 'common' }, 30)))
    let [pages, cursor]: [number, string | undefined] = [0, undefined]
    for (;;) {
      const page = await t.store.list({ kind: 'rare' }, { limit: 5, mostScanned: 12, cursor })
      pages += 1
      assert.ok(page.scanned <= 12)
      if (page.jobs.length > 0) {
        assert.deepEqual(pluck(page.jobs, 'id'), [rare])
        break
      }
      hasFields(page, { complete: false })
      cursor = page.next ?? undefined
      assert.ok(cursor !== undefined)
    }
    assert.equal(pages, 3)
    for (const mostScanned of [0, 50_001])
      await rejectsWith('NUMBER_INVALID', () => t.store.list({}, { limit: 1, mostScanned }))
  }),
  test('byTag lists the newest id first in every state, and finds only that state', async (t) => {
    const ids: string[] = []
    for (const state of [...JOB_STATES, ...JOB_STATES]) {
      ids.unshift(await t.jobIn(state, { tags: ['t', state], queue: `q${ids.length % 2}` }))
      await t.jobIn(state, { tags: ['other'] })
    }
    const lease = await t.running({ tags: ['t'] })
    await t.finish(lease, later(HOUR), { error: 'x' })
    ids.unshift(lease.id)
    const byTag = { byTag: true, tags: ['t'] }
    await t.lists(byTag, ids, [500, 3, 1])
    for (const [at, state] of JOB_STATES.toReversed().entries()) {
      const retried = state === 'scheduled' ? [lease.id] : []
      const found = [...retried, ids[1 + at] ?? '', ids[1 + JOB_STATES.length + at] ?? '']
      await t.lists({ ...byTag, state }, found, [500, 2, 1])
      await t.lists({ byTag: true, tags: [state, 't'], state }, found.slice(retried.length))
    }
    await t.lists({ ...byTag, state: 'scheduled', retrying: true }, [lease.id])
    await t.lists({ ...byTag, state: 'dead', queue: 'q2' }, [])
    const { next } = await t.store.list({ ...byTag, state: 'dead' }, { limit: 1 })
    assert.ok(next)
    await t.store.list(byTag, { limit: 1, cursor: next })
  }),
  test('a summary matches the job itself', async (t) => {
    for (const state of JOB_STATES) await t.jobIn(state, { tags: ['t'], priority: 3 })
    const listed = await t.listAll()
    assert.equal(listed.length, JOB_STATES.length)
    for (const summary of listed) await t.jobIs(summary.id, summary)
  }),
  test('an unknown cursor and one of another listing are rejected', async (t) => {
    for (let n = 0; n < 3; n += 1) await t.enqueue()
    await rejectsWith('CURSOR_INVALID', () => t.store.list({}, { limit: 1, cursor: 'nonsense' }))
    const { next } = await t.store.list({ state: 'ready' }, { limit: 1 })
    assert.ok(next)
    await rejectsWith('CURSOR_INVALID', () => t.store.list({ state: 'done' }, { limit: 1, cursor: next }))
  }),
]
