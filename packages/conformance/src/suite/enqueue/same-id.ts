/** An id is identity: enqueuing it again, even concurrently, is the same job. */
import assert from 'node:assert/strict'
import { JOB_STATES } from 'jobmill/store'
import { aJob, someJobs } from '../../factories.ts'
import { DONE } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, enqueued, changesNothing, countsOf } from '../looks.ts'

export const sameIdCases: readonly Case[] = [
  test('P11 a repeated call with one key twice reports the current holder of the key, or takes it', async (t) => {
    const { store, worker, claimOne, finish } = t
    const dedupe = { key: 'k' }
    const [first, second] = [aJob({ dedupe }), aJob({ dedupe })]
    await store.enqueue([first, second])
    await finish(await claimOne(await worker()), DONE)
    const holder = aJob({ dedupe })
    await store.enqueue([holder])
    assert.deepEqual(await store.enqueue([first, second], { mayRepeat: true }), [
      { id: first.id, outcome: 'enqueued' },
      { id: holder.id, outcome: 'duplicate' },
    ])
    await store.cancel([holder.id], 'no')
    assert.deepEqual(await store.enqueue([first, second], { mayRepeat: true }), [
      { id: first.id, outcome: 'enqueued' },
      { id: second.id, outcome: 'enqueued' },
    ])
  }),
  test('P11 an id that exists is the same job, whatever state it is in', async ({ store, jobIn }) => {
    for (const state of JOB_STATES) {
      const id = await jobIn(state)
      const again = aJob({ id, payload: 'another', priority: 7, tags: ['new'] })
      const reply = await changesNothing(store, () => store.enqueue([again], { mayRepeat: true }))
      assert.deepEqual(reply, [{ id, outcome: 'enqueued' }], state)
    }
  }),
  test('P11 an id sent concurrently by several handles makes one job', async ({ store, another }) => {
    const stores = [store, await another(), await another()]
    const jobs = someJobs(Array.from({ length: 20 }, () => ({})))
    const replies = await Promise.all(
      [...stores, ...stores].map((each) => each.enqueue(jobs, { mayRepeat: true })),
    )
    for (const reply of replies) {
      assert.deepEqual(reply, enqueued(pluck(jobs, 'id')))
    }
    assert.deepEqual(await countsOf(store), { ready: 20 })
  }),
  test('P11 a repeated call writes only what is missing', async ({ store, jobIs }) => {
    const [first, second] = [aJob({ payload: 1 }), aJob({ payload: 2 })]
    await store.enqueue([first])
    await store.enqueue([{ ...first, payload: '9' }, second], { mayRepeat: true })
    await jobIs(first.id, { payload: '1' })
    await jobIs(second.id, { payload: '2' })
    assert.deepEqual(await countsOf(store), { ready: 2 })
  }),
  test('P11 a repeated id ignores the current holder of its dedupe key', async (t) => {
    const { store, running, finish, enqueue } = t
    const dedupe = { key: 'k' }
    const first = await running({ dedupe })
    await finish(first, DONE)
    const holder = await enqueue({ dedupe })
    const again = aJob({ id: first.id, dedupe: { key: 'k', onConflict: 'replace' } })
    const reply = await changesNothing(store, () => store.enqueue([again], { mayRepeat: true }))
    assert.deepEqual(reply, [{ id: first.id, outcome: 'enqueued' }])
    assert.deepEqual(await store.enqueue([aJob({ dedupe })]), [{ id: holder, outcome: 'duplicate' }])
  }),
]
