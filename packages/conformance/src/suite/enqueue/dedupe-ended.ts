/** Dedupe keys that are held however their job ended (`holdAfter: 'ended'`). */
import assert from 'node:assert/strict'
import { aJob, aRetain } from '../../factories.ts'
import { type Bench, DEAD, DONE, FORGET, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, hasFields, changesNothing, isVerdict } from '../looks.ts'

const HOLD = 1_000
const held = (key: string) => ({ dedupe: { key, holdFor: HOLD, holdAfter: 'ended' as const } })

async function isHeldBy({ store }: Bench, key: string, holder: string): Promise<void> {
  for (const onConflict of ['keep', 'replace'] as const) {
    const reply = only(
      await changesNothing(store, () => store.enqueue([aJob({ dedupe: { key, onConflict } })])),
    )
    assert.deepEqual(reply, { id: holder, outcome: 'duplicate' }, key)
  }
}

/** Checks that the key is free by taking it. */
async function isFree({ store }: Bench, key: string): Promise<string> {
  const job = aJob({ dedupe: { key } })
  assert.deepEqual(only(await store.enqueue([job])), { id: job.id, outcome: 'enqueued' }, key)
  return job.id
}

/** Every way a job can end, by name. */
const WAYS: Readonly<Record<string, (t: Bench, key: string) => Promise<string>>> = {
  done: (t, key) => t.jobIn('done', held(key)),
  async forgotten(t, key) {
    const lease = await t.running(held(key))
    await t.finish(lease, FORGET)
    return lease.id
  },
  dead: (t, key) => t.jobIn('dead', held(key)),
  async 'dead of crashes'(t, key) {
    const lease = await t.running(held(key))
    t.clock.advance(HOUR)
    await t.store.instances.reap({ crashesUntilDead: 1, limit: 10 })
    return lease.id
  },
  async 'cancelled while it was scheduled'(t, key) {
    const id = await t.jobIn('scheduled', held(key))
    await t.store.cancel([id], 'no')
    return id
  },
  async 'cancelled while it was ready'(t, key) {
    const id = await t.jobIn('ready', held(key))
    await t.store.cancel([id], 'no')
    return id
  },
  async 'cancelled while it ran'(t, key) {
    const lease = await t.running(held(key))
    await t.store.cancel([lease.id], 'no')
    await t.finish(lease, DEAD)
    return lease.id
  },
  async 'cancelled when its instance stopped'(t, key) {
    const lease = await t.running(held(key))
    await t.store.cancel([lease.id], 'no')
    await t.store.instances.deregister(lease.instance)
    return lease.id
  },
  async 'cancelled when its instance was lost'(t, key) {
    const lease = await t.running(held(key))
    await t.store.cancel([lease.id], 'no')
    t.clock.advance(HOUR)
    await t.store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    return lease.id
  },
}

export const dedupeEndedCases: readonly Case[] = [
  test('P9 P11 a key with holdAfter ended is held after every way to end, for the requested time', async (t) => {
    for (const [key, end] of Object.entries(WAYS)) {
      const holder = await end(t, key)
      t.clock.advance(HOLD - 1)
      await isHeldBy(t, key, holder)
      t.clock.advance(2)
      await isFree(t, key)
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
    await setQueue(t.store, 'default', { retainDeadMs: 10 })
    t.clock.advance(HOLD - 1)
    hasFields(await t.store.retain(aRetain()), { jobs: 1, keys: 0 })
    await isHeldBy(t, 'k', holder)
    t.clock.advance(2)
    assert.equal((await t.store.retain(aRetain())).keys, 1)
  }),
  test('P11 a retried job takes back its own held key, and holds it again when it ends again', async (t) => {
    for (const state of ['dead', 'cancelled'] as const) {
      const id = await t.jobIn(state, held(state))
      t.clock.advance(HOLD - 1)
      isVerdict(only(await t.store.retry([id])), 'changed', 'ready')
      t.clock.advance(10 * HOLD)
      assert.equal((await t.store.retain(aRetain())).keys, 0)
      const asked = { dedupe: { key: state } }
      assert.deepEqual(only(await t.store.enqueue([aJob(asked)])), { id, outcome: 'duplicate' })
      const again = await t.claimOne(await t.worker(), { kinds: [(await t.job(id)).kind] })
      await t.finish(again, state === 'dead' ? DEAD : DONE)
      t.clock.advance(HOLD - 1)
      await isHeldBy(t, state, id)
      t.clock.advance(2)
      await isFree(t, state)
    }
  }),
  test('P11 a retry is refused with the holder while an ended job holds the key, and the holder itself can be retried', async (t) => {
    for (const [key, order] of [
      ['a', 1],
      ['b', -1],
    ] as const) {
      const old = await t.jobIn('dead', held(key))
      t.clock.advance(HOLD + 1)
      const holder = await t.jobIn('dead', held(key))
      isVerdict(only(await changesNothing(t.store, () => t.store.retry([old]))), 'refused', 'dead', holder)
      const ids = order === 1 ? [old, holder] : [holder, old]
      const verdicts = new Map((await t.store.retry(ids)).map((verdict) => [verdict.id, verdict]))
      isVerdict(verdicts.get(old), 'refused', 'dead', holder)
      isVerdict(verdicts.get(holder), 'changed', 'ready')
    }
  }),
  test('P11 a job whose hold is over does not take the key from its current holder', async (t) => {
    const old = await t.jobIn('dead', held('k'))
    t.clock.advance(HOLD + 1)
    const holder = await isFree(t, 'k')
    isVerdict(only(await changesNothing(t.store, () => t.store.retry([old]))), 'refused', 'dead', holder)
    await t.store.delete([old])
    assert.deepEqual(only(await t.store.enqueue([aJob({ dedupe: { key: 'k' } })])).id, holder)
  }),
]
