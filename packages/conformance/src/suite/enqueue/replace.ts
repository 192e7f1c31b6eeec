/**
 * Dedupe with `replace`: a waiting holder gets the new payload, due time and enqueue time, and keeps
 * everything else.
 */
import assert from 'node:assert/strict'
import { entryOf } from 'jobmill/store'
import { aJob, DONE, HOUR, KIND, later, only } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'

const dedupe = { key: 'k' }

async function replace(
  { store }: Bench,
  request: Parameters<typeof aJob>[0] = {},
): Promise<[string, string]> {
  const job = aJob({ payload: 'new', dedupe: { key: 'k', onConflict: 'replace', holdFor: HOUR }, ...request })
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id]
}

export const replaceCases: readonly Case[] = [
  test('D5 replace gives a scheduled holder the new payload, due time and enqueue time, and leaves the rest', async (t) => {
    const old = { priority: 4, maxAttempts: 9, tags: ['old'], metadata: { old: 1 } }
    const lease = await t.running({ ...old, dedupe, kind: KIND })
    await t.finish(lease, later(HOUR), { error: 'first' })
    const before = await t.job(lease.id)
    const ignored = { queue: 'elsewhere', priority: 1, tags: ['x'], metadata: { x: 1 } }
    t.clock.advance(10)
    assert.deepEqual(await replace(t, { ...ignored, delay: 5_000 }), ['replaced', lease.id])
    const enqueuedAt = t.clock.now()
    const after = { ...before, payload: '"new"', enqueuedAt, dueAt: enqueuedAt + 5_000 }
    assert.deepEqual(await t.job(lease.id), after)
    assert.equal((await t.store.history(lease.id)).length, 1)
  }),
  test('replace exchanges the index entries of the payload, and keeps the tags', async (t) => {
    const [red, blue, both] = [entryOf('a', 'red'), entryOf('a', 'blue'), entryOf('b', 'x')]
    for (const [at, before, after] of [
      [0, [red, both], [both, blue]],
      [1, [], [red]],
      [2, [red], []],
    ] as const) {
      const key = { key: `k${at}` }
      const holder = { ...aJob({ dedupe: key, tags: ['own', 'red'] }) }
      await t.store.enqueue([{ ...holder, tags: [...holder.tags, ...before] }])
      const job = aJob({ dedupe: { ...key, onConflict: 'replace' }, tags: ['ignored'] })
      const { id } = only(await t.store.enqueue([{ ...job, tags: [...job.tags, ...after] }]))
      assert.equal(id, holder.id)
      const { tags } = await t.job(id)
      assert.deepEqual(tags.toSorted(), ['own', 'red', ...after].toSorted())
      for (const tag of tags) await t.lists({ tags: [tag], byTag: true }, [id])
      for (const tag of [red, blue, both].filter((one) => !tags.includes(one)))
        await t.lists({ tags: [tag], byTag: true }, [])
      await t.store.delete([id])
      for (const tag of tags) await t.lists({ tags: [tag], byTag: true }, [])
    }
  }),
  test('D2 P1 replace of a job of another kind is a duplicate: no payload reaches the handler of another kind', async (t) => {
    const holder = await t.enqueue({ dedupe, delay: HOUR })
    const before = await t.job(holder)
    assert.deepEqual(await replace(t, { kind: 'else' }), ['duplicate', holder])
    assert.deepEqual(await t.job(holder), before)
  }),
  test('replace with a due time of now makes a scheduled holder ready, behind the others', async (t) => {
    const holder = await t.enqueue({ dedupe, delay: HOUR })
    const other = await t.enqueue()
    t.clock.advance(10)
    assert.deepEqual(await replace(t), ['replaced', holder])
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'id'), [other, holder])
    hasFields(leases[1], { payload: '"new"', readyAt: t.clock.now() })
  }),
  test('replace keeps the place of a ready holder that is still due', async (t) => {
    const readyAt = t.clock.now()
    const holder = await t.enqueue({ dedupe })
    const other = await t.enqueue()
    t.clock.advance(10)
    assert.deepEqual(await replace(t, { runAt: 1 }), ['replaced', holder])
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'id'), [holder, other])
    hasFields(leases[0], { payload: '"new"', readyAt, enqueuedAt: t.clock.now() })
  }),
  test('replace with a later due time makes a ready holder scheduled', async (t) => {
    const holder = await t.enqueue({ dedupe })
    assert.deepEqual(await replace(t, { runAt: t.clock.now() + 50 }), ['replaced', holder])
    await t.jobIs(holder, { state: 'scheduled', dueAt: t.clock.now() + 50, payload: '"new"' })
    assert.deepEqual(await t.claim(await t.worker()), [])
    t.clock.advance(50)
    assert.equal((await t.store.stage(10)).ready, 1)
  }),
  test('replace does not affect a holder that is running or done', async (t) => {
    const running = await t.running({ dedupe })
    assert.deepEqual(await t.changesNothing(() => replace(t)), ['duplicate', running.id])
    const done = await t.jobIn('done', { dedupe: { key: 'd', holdFor: HOUR } })
    const request = { dedupe: { key: 'd', onConflict: 'replace' } } as const
    assert.deepEqual(await t.changesNothing(() => replace(t, request)), ['duplicate', done])
  }),
  test('replace without a holder is a new job', async (t) => {
    for (const state of ['dead', 'cancelled', 'done'] as const) {
      await t.jobIn(state, { dedupe })
      const [outcome, id] = await replace(t)
      assert.equal(outcome, 'enqueued', state)
      await t.store.delete([id])
    }
  }),
  test('replace keeps the hold of the holder', async (t) => {
    await t.enqueue({ dedupe })
    await replace(t)
    await t.finish(await t.claimOne(await t.worker()), DONE)
    assert.equal((await replace(t))[0], 'enqueued')
  }),
  test('replace of a holder in its order queue keeps its place while it is due, and removes it when it is not', async (t) => {
    const orderKey = 'o'
    const first = await t.running({ orderKey })
    const holder = await t.enqueue({ orderKey, dedupe })
    const third = await t.enqueue({ orderKey })
    await replace(t)
    await t.jobIs(holder, { waitsForOrder: true })
    await t.finish(first, DONE)
    await t.store.stage(10)
    await t.statesAre([holder, third], ['ready', 'scheduled'])

    const late = await t.enqueue({ orderKey, dedupe: { key: 'l' } })
    const last = await t.enqueue({ orderKey })
    await replace(t, { dedupe: { key: 'l', onConflict: 'replace' }, delay: 100 })
    await t.jobIs(late, { state: 'scheduled', waitsForOrder: false, dueAt: t.clock.now() + 100 })
    for (const next of [holder, third, last, late]) {
      const lease = await t.claimOne(await t.worker(), { limit: 1 })
      assert.equal(lease.id, next)
      await t.finish(lease, DONE)
      t.clock.advance(100)
      await t.store.stage(10)
    }
  }),
  test('replace of a delayed holder with an order key adds it to its order queue when it is due now', async (t) => {
    const holder = await t.enqueue({ orderKey: 'o', dedupe, delay: HOUR })
    assert.deepEqual(await replace(t), ['replaced', holder])
    await t.jobIs(holder, { state: 'scheduled', waitsForOrder: true })
    await t.store.stage(10)
    await t.jobIs(holder, { state: 'ready' })
  }),
  test('replace of a holder that has its order lock keeps the lock', async (t) => {
    const orderKey = 'o'
    const holder = await t.running({ orderKey, dedupe, kind: KIND })
    const second = await t.enqueue({ orderKey })
    await t.finish(holder, later(HOUR))
    await replace(t, { delay: 50 })
    await t.store.stage(10)
    await t.jobIs(second, { waitsForOrder: true })
    await replace(t)
    await t.jobIs(holder.id, { state: 'ready' })
    await replace(t, { delay: 50 })
    await t.jobIs(holder.id, { state: 'scheduled' })
    await t.store.stage(10)
    await t.jobIs(second, { state: 'scheduled' })
    t.clock.advance(50)
    await t.store.stage(10)
    await t.statesAre([holder.id, second], ['ready', 'scheduled'])
  }),
]
