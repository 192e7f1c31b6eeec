/** Dedupe keys: one holder at a time, from enqueue to the end of the hold. */
import assert from 'node:assert/strict'
import { aJob, aRetain } from '../../factories.ts'
import { type Bench, DEAD, DONE, HOUR, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, changesNothing, countsOf } from '../looks.ts'

const dedupe = { key: 'k' }

async function ask(
  { store }: Bench,
  request: Parameters<typeof aJob>[0] = { dedupe },
): Promise<[string, string]> {
  const job = aJob(request)
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id === job.id ? 'new' : id]
}

export const dedupeCases: readonly Case[] = [
  test('a key is held while its job is scheduled, ready or running, and the holder is reported', async (t) => {
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const request = { dedupe: { key: state } }
      const holder = await t.jobIn(state, request)
      assert.deepEqual(await changesNothing(t.store, () => ask(t, request)), ['duplicate', holder])
    }
  }),
  test('a key is held between attempts', async (t) => {
    const lease = await t.running({ dedupe })
    await t.finish(lease, later(1_000))
    assert.deepEqual(await ask(t), ['duplicate', lease.id])
    await t.finish(await t.running({ dedupe: { key: 'other' } }), later(0))
    assert.equal((await ask(t, { dedupe: { key: 'other' } }))[0], 'duplicate')
  }),
  test('a key is held while its job waits for its order lock', async (t) => {
    await t.running({ orderKey: 'o' })
    const waiting = await t.enqueue({ orderKey: 'o', dedupe })
    await t.store.stage(10)
    assert.deepEqual(await ask(t), ['duplicate', waiting])
  }),
  test('a key is held after a release, a deregistration and a reap', async (t) => {
    const lease = await t.running({ dedupe })
    await t.finish(lease, { to: 'ready' })
    assert.deepEqual(await ask(t), ['duplicate', lease.id])
    const worker = await t.worker()
    await t.claimOne(worker, { kinds: [lease.kind] })
    await t.store.instances.deregister(worker)
    assert.deepEqual(await ask(t), ['duplicate', lease.id])
    await t.claimAgain(lease)
    await t.crash()
    assert.deepEqual(await ask(t), ['duplicate', lease.id])
  }),
  test('a key is free at once after dead, dead because of crashes, cancelled and delete of a job that had not ended', async (t) => {
    await t.jobIn('dead', { dedupe: { key: 'k', holdFor: HOUR } })
    assert.deepEqual(await ask(t, { dedupe: { key: 'k', holdFor: HOUR } }), ['enqueued', 'new'])
    for (const state of ['scheduled', 'ready'] as const) {
      for (const verb of ['cancel', 'delete'] as const) {
        const request = { dedupe: { key: `${state} ${verb}`, holdFor: HOUR } }
        const id = await t.jobIn(state, request)
        await (verb === 'cancel' ? t.store.cancel([id], 'no') : t.store.delete([id]))
        assert.deepEqual(await ask(t, request), ['enqueued', 'new'], `${verb} of a ${state} job`)
      }
    }
    await t.running({ dedupe: { key: 'c' } })
    await t.crash(1)
    assert.deepEqual(await ask(t, { dedupe: { key: 'c' } }), ['enqueued', 'new'])
    const running = await t.running({ dedupe: { key: 'r', holdFor: HOUR } })
    await t.store.cancel([running.id], 'no')
    assert.deepEqual(await ask(t, { dedupe: { key: 'r' } }), ['duplicate', running.id])
    await t.finish(running, DEAD)
    assert.deepEqual(await ask(t, { dedupe: { key: 'r' } }), ['enqueued', 'new'])
  }),
  test('a key is held after done for the requested time, and not longer', async (t) => {
    const holder = await t.jobIn('done', { dedupe: { key: 'k', holdFor: 1_000 } })
    t.clock.advance(999)
    assert.deepEqual(await ask(t), ['duplicate', holder])
    t.clock.advance(2)
    assert.deepEqual(await ask(t), ['enqueued', 'new'])
  }),
  test('a hold outlives the deletion and the retention of its job', async (t) => {
    const holder = await t.jobIn('done', { dedupe: { key: 'k', holdFor: HOUR } })
    await t.store.delete([holder])
    assert.deepEqual(await ask(t), ['duplicate', holder])
    const other = await t.jobIn('done', { dedupe: { key: 'o', holdFor: HOUR } })
    await setQueue(t.store, 'default', { retainDoneMs: 10 })
    t.clock.advance(100)
    await t.store.retain(aRetain({ limit: 10 }))
    assert.deepEqual(await t.store.get([other]), [null])
    for (const onConflict of ['keep', 'replace'] as const) {
      assert.deepEqual(await ask(t, { dedupe: { key: 'o', onConflict } }), ['duplicate', other])
    }
    t.clock.advance(HOUR)
    assert.deepEqual(await ask(t, { dedupe: { key: 'o' } }), ['enqueued', 'new'])
  }),
  test('a key without a hold is free as soon as its job is done: the hold is that of the finished job, not of the new one', async (t) => {
    await t.jobIn('done', { dedupe })
    assert.deepEqual(await ask(t, { dedupe: { key: 'k', holdFor: HOUR } }), ['enqueued', 'new'])
    const [waiting] = await t.claim(await t.worker())
    assert.ok(waiting)
    await t.finish(waiting, DONE)
    t.clock.advance(HOUR - 1)
    assert.deepEqual(await ask(t), ['duplicate', waiting.id])
  }),
  test('keys of different scopes do not conflict', async (t) => {
    for (const scope of ['global', 'queue', 'kind'] as const) {
      assert.deepEqual(await ask(t, { dedupe: { key: 'k', scope } }), ['enqueued', 'new'])
    }
    assert.equal((await ask(t, { dedupe: { key: 'k', scope: 'queue' } }))[0], 'duplicate')
    assert.equal((await ask(t, { queue: 'b', dedupe: { key: 'k', scope: 'queue' } }))[0], 'enqueued')
    assert.equal((await ask(t, { kind: 'b', dedupe: { key: 'k', scope: 'kind' } }))[0], 'enqueued')
    assert.equal(
      (await ask(t, { queue: 'b', kind: 'b', dedupe: { key: 'k', scope: 'global' } }))[0],
      'duplicate',
    )
  }),
  test('items of one call with the same key are processed in order', async ({ store, job }) => {
    const replace = { key: 'k', onConflict: 'replace' } as const
    const jobs = [
      aJob({ dedupe, payload: 1 }),
      aJob({ payload: 2 }),
      aJob({ dedupe, payload: 3 }),
      aJob({ dedupe: replace, payload: 4, delay: HOUR }),
      aJob({ dedupe: replace, payload: 5, delay: 2 * HOUR }),
      aJob({ dedupe: { key: 'other' }, payload: 6 }),
    ]
    const outcomes = ['enqueued', 'enqueued', 'duplicate', 'replaced', 'replaced', 'enqueued']
    const replies = await store.enqueue(jobs)
    assert.deepEqual(pluck(replies, 'outcome'), outcomes)
    const holder = jobs[0]?.id ?? ''
    for (const at of [0, 2, 3, 4]) assert.equal(replies[at]?.id, holder)
    const { payload, dueAt, enqueuedAt } = await job(holder)
    assert.deepEqual([payload, dueAt], ['5', enqueuedAt + 2 * HOUR])
    assert.deepEqual(await countsOf(store), { scheduled: 1, ready: 2 })
  }),
  test('holders returns the holder of a key as an enqueue would report it, in the order requested', async (t) => {
    const waiting = await t.enqueue({ dedupe: { key: 'a' } })
    const held = await t.running({ dedupe: { key: 'b', holdFor: HOUR } })
    const free = await t.running({ dedupe: { key: 'c' } })
    const ended = await t.running({ dedupe: { key: 'd', holdFor: HOUR, holdAfter: 'ended' } })
    await t.finish(held, DONE)
    await t.finish(free, DONE)
    await t.finish(ended, DEAD)
    await t.store.delete([held.id])
    const keys = ['global d', 'global c', 'queue a', 'global b', 'global a', 'global d']
    const holders = [ended.id, null, null, held.id, waiting, ended.id]
    assert.deepEqual(await changesNothing(t.store, () => t.store.inspect.holders(keys)), holders)
    t.clock.advance(HOUR)
    assert.deepEqual(await t.store.inspect.holders(keys), [null, null, null, null, waiting, null])
    assert.deepEqual(await t.store.inspect.holders([]), [])
  }),
  test('a key requested concurrently has one holder, and every caller learns who it is', async (t) => {
    const { store, another } = t
    const stores = [store, await another(), await another()]
    const calls = Array.from({ length: 24 }, (_, n) => [
      aJob({ dedupe: { key: `k${n % 4}` } }),
      aJob({ dedupe: { key: `k${(n + 1) % 4}` } }),
    ])
    const replies = (await Promise.all(calls.map((jobs, n) => (stores[n % 3] ?? store).enqueue(jobs)))).flat()
    const jobs = calls.flat()
    for (const key of [0, 1, 2, 3]) {
      const mine = replies.filter((_, at) => jobs[at]?.dedupe?.key === `global k${key}`)
      assert.equal(mine.filter(({ outcome }) => outcome === 'enqueued').length, 1)
      assert.equal(new Set(mine.map(({ id }) => id)).size, 1)
    }
    assert.deepEqual(await countsOf(store), { ready: 4 })
  }),
]
