/** Dedupe keys: one holder at a time, from enqueue to the end of the hold. */
import assert from 'node:assert/strict'
import { aJob, DEAD, DONE, FORGET, HOUR, later, only } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, isVerdict, pluck } from '../looks.ts'

const dedupe = { key: 'k' }

async function ask(
  { store }: Bench,
  request: Parameters<typeof aJob>[0] = { dedupe },
): Promise<[string, string]> {
  const job = aJob(request)
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id === job.id ? 'new' : id]
}

const HOLD = 1_000
const held = (key: string) => ({ dedupe: { key, holdFor: HOLD, holdAfter: 'ended' as const } })

async function isHeldBy(t: Bench, key: string, holder: string): Promise<void> {
  for (const onConflict of ['keep', 'replace'] as const)
    assert.deepEqual(
      await t.changesNothing(() => ask(t, { dedupe: { key, onConflict } })),
      ['duplicate', holder],
      key,
    )
}

/** Checks that the key is free by taking it. */
function isFree(t: Bench, key: string): Promise<string> {
  return t.enqueue({ dedupe: { key } })
}

/** Every way a running job can end, by name. */
const WAYS: Readonly<Record<string, (t: Bench, lease: HeldLease) => Promise<unknown>>> = {
  done: (t, lease) => t.finish(lease, DONE),
  forgotten: (t, lease) => t.finish(lease, FORGET),
  dead: (t, lease) => t.finish(lease, DEAD),
  'dead of crashes': (t) => t.crash(1),
  async 'cancelled while it ran'(t, lease) {
    await t.store.cancel([lease.id], 'no')
    await t.finish(lease, DEAD)
  },
  async 'cancelled when its instance stopped'(t, { id, instance }) {
    await t.store.cancel([id], 'no')
    await t.store.instances.deregister(instance)
  },
  async 'cancelled when its instance was lost'(t, { id }) {
    await t.store.cancel([id], 'no')
    await t.crash()
  },
}

export const dedupeCases: readonly Case[] = [
  test('a key is held while its job is scheduled, ready or running, and the holder is reported', async (t) => {
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const request = { dedupe: { key: state } }
      const holder = await t.jobIn(state, request)
      assert.deepEqual(await t.changesNothing(() => ask(t, request)), ['duplicate', holder])
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
    for (const [key, transition] of Object.entries({ kept: DONE, forgotten: FORGET })) {
      const lease = await t.running({ dedupe: { key, holdFor: 1_000 } })
      t.clock.advance(10)
      await t.finish(lease, transition)
      t.clock.advance(999)
      await isHeldBy(t, key, lease.id)
      assert.equal((await t.retain()).keys, 0)
      t.clock.advance(1)
      await isFree(t, key)
    }
  }),
  test('a hold outlives the deletion and the retention of its job', async (t) => {
    const holder = await t.jobIn('done', { dedupe: { key: 'k', holdFor: HOUR } })
    await t.store.delete([holder])
    assert.deepEqual(await ask(t), ['duplicate', holder])
    const other = await t.jobIn('done', { dedupe: { key: 'o', holdFor: HOUR } })
    await t.setQueue('default', { retainDoneMs: 10 })
    t.clock.advance(100)
    await t.retain({ limit: 10 })
    assert.deepEqual(await t.store.get([other]), [null])
    await isHeldBy(t, 'o', other)
    t.clock.advance(HOUR)
    assert.deepEqual(await ask(t, { dedupe: { key: 'o' } }), ['enqueued', 'new'])
  }),
  test('a key without a hold is free as soon as its job is done: the hold is that of the finished job, not of the new one', async (t) => {
    await t.jobIn('done', { dedupe })
    await t.finish(await t.running({ dedupe }), FORGET)
    assert.deepEqual(await ask(t, { dedupe: { key: 'k', holdFor: HOUR } }), ['enqueued', 'new'])
    const waiting = await t.claimOne(await t.worker())
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
    assert.equal((await ask(t, { queue: 'b', kind: 'b', dedupe: { key: 'k' } }))[0], 'duplicate')
  }),
  test('items of one call with the same key are processed in order', async (t) => {
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
    const replies = await t.store.enqueue(jobs)
    assert.deepEqual(pluck(replies, 'outcome'), outcomes)
    const holder = jobs[0]?.id ?? ''
    for (const at of [0, 2, 3, 4]) assert.equal(replies[at]?.id, holder)
    await t.jobIs(holder, { payload: '5', dueAt: t.clock.now() + 2 * HOUR })
    await t.countsAre({ scheduled: 1, ready: 2 })
  }),
  test('a key requested concurrently has one holder, and every caller learns who it is', async (t) => {
    const stores = await t.handles(3)
    const calls = Array.from({ length: 24 }, (_, n) =>
      [n, n + 1].map((key) => aJob({ dedupe: { key: `k${key % 4}` } })),
    )
    const replies = (
      await Promise.all(calls.map((jobs, n) => (stores[n % 3] ?? t.store).enqueue(jobs)))
    ).flat()
    const jobs = calls.flat()
    for (const key of [0, 1, 2, 3]) {
      const mine = replies.filter((_, at) => jobs[at]?.dedupe?.key === `global k${key}`)
      assert.equal(mine.filter(({ outcome }) => outcome === 'enqueued').length, 1)
      assert.equal(new Set(mine.map(({ id }) => id)).size, 1)
    }
    await t.countsAre({ ready: 4 })
  }),
  test('P9 P11 a key with holdAfter ended is held after every way to end, for the requested time', async (t) => {
    const isHeldForItsTime = async (key: string, holder: string): Promise<void> => {
      t.clock.advance(HOLD - 1)
      await isHeldBy(t, key, holder)
      t.clock.advance(2)
      await isFree(t, key)
    }
    for (const [key, end] of Object.entries(WAYS)) {
      const lease = await t.running(held(key))
      await end(t, lease)
      await isHeldForItsTime(key, lease.id)
    }
    for (const state of ['scheduled', 'ready'] as const) {
      const id = await t.jobIn(state, held(state))
      await t.store.cancel([id], 'no')
      await isHeldForItsTime(state, id)
    }
  }),
  test('P11 deleting an ended job does not free such a key, deleting a waiting job does', async (t) => {
    for (const state of ['done', 'dead', 'cancelled'] as const) {
      const holder = await t.jobIn(state, held(state))
      await t.store.delete([holder])
      await isHeldBy(t, state, holder)
    }
    for (const state of ['scheduled', 'ready'] as const) {
      await t.store.delete([await t.jobIn(state, held(state))])
      await isFree(t, state)
    }
  }),
  test('P11 retention of a dead job keeps its held key, and deletes the key when its hold is over', async (t) => {
    const holder = await t.jobIn('dead', held('k'))
    await t.setQueue('default', { retainDeadMs: 10 })
    t.clock.advance(HOLD - 1)
    hasFields(await t.retain(), { jobs: 1, keys: 0 })
    await isHeldBy(t, 'k', holder)
    t.clock.advance(2)
    assert.equal((await t.retain()).keys, 1)
  }),
  test('P11 a retried job takes back its own held key, and holds it again when it ends again', async (t) => {
    for (const state of ['dead', 'cancelled'] as const) {
      const id = await t.jobIn(state, held(state))
      t.clock.advance(HOLD - 1)
      isVerdict(only(await t.store.retry([id])), 'changed', 'ready')
      t.clock.advance(10 * HOLD)
      assert.equal((await t.retain()).keys, 0)
      assert.deepEqual(await ask(t, { dedupe: { key: state } }), ['duplicate', id])
      const again = await t.claimOne(await t.worker(), { kinds: [(await t.job(id)).kind] })
      await t.finish(again, state === 'dead' ? DEAD : DONE)
      t.clock.advance(HOLD - 1)
      await isHeldBy(t, state, id)
      t.clock.advance(2)
      await isFree(t, state)
    }
  }),
  test('P11 a retry is refused with the holder while an ended job holds the key, and the holder itself can be retried', async (t) => {
    for (const key of ['old first', 'holder first']) {
      const old = await t.jobIn('dead', held(key))
      t.clock.advance(HOLD + 1)
      const holder = await t.jobIn('dead', held(key))
      isVerdict(only(await t.changesNothing(() => t.store.retry([old]))), 'refused', 'dead', holder)
      const ids = key === 'old first' ? [old, holder] : [holder, old]
      const verdicts = new Map((await t.store.retry(ids)).map((verdict) => [verdict.id, verdict]))
      isVerdict(verdicts.get(old), 'refused', 'dead', holder)
      isVerdict(verdicts.get(holder), 'changed', 'ready')
    }
  }),
  test('P11 a job whose hold is over does not take the key from its current holder', async (t) => {
    const old = await t.jobIn('dead', held('k'))
    t.clock.advance(HOLD + 1)
    const holder = await isFree(t, 'k')
    isVerdict(only(await t.changesNothing(() => t.store.retry([old]))), 'refused', 'dead', holder)
    await t.store.delete([old])
    assert.deepEqual(await ask(t), ['duplicate', holder])
  }),
]
