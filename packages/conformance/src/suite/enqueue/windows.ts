/** Dedupe keys with a window: held for a time after the enqueue, whatever happens to the job. */
import assert from 'node:assert/strict'
import type { JobRequest } from 'jobmill/store'
import { aDirectDispatch, aJob, DEAD, DONE, FORGET, HOUR, later, only } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { isVerdict, pluck } from '../looks.ts'

const WINDOW = 1_000
const inWindow = (key: string) => ({ dedupe: { key, window: WINDOW } })

async function ask({ store }: Bench, request: Partial<JobRequest>): Promise<[string, string]> {
  const job = aJob(request)
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id === job.id ? 'new' : id]
}

/** Checks every kind of enqueue with this key. */
async function isHeldBy(t: Bench, key: string, holder: string): Promise<void> {
  for (const dedupe of [{ key }, { key, window: WINDOW }, { key, onConflict: 'replace' as const }])
    assert.deepEqual(await t.changesNothing(() => ask(t, { dedupe })), ['duplicate', holder], key)
}

const ENDS: Readonly<Record<string, (t: Bench, lease: HeldLease) => Promise<unknown>>> = {
  done: (t, lease) => t.finish(lease, DONE),
  forgotten: (t, lease) => t.finish(lease, FORGET),
  dead: (t, lease) => t.finish(lease, DEAD),
  'waiting for a retry': (t, lease) => t.finish(lease, later(HOUR)),
  released: (t, lease) => t.store.instances.deregister(lease.instance),
  async cancelled(t, lease) {
    await t.store.cancel([lease.id], 'no')
    await t.finish(lease, DEAD)
  },
}

export const windowCases: readonly Case[] = [
  test('P9 a key with a window is held for this time after the enqueue, and is free then, even if its job waits or runs', async (t) => {
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const holder = await t.jobIn(state, inWindow(state))
      t.clock.advance(WINDOW - 1)
      await isHeldBy(t, state, holder)
      t.clock.advance(1)
      assert.deepEqual(await ask(t, inWindow(state)), ['enqueued', 'new'])
      await t.jobIs(holder, { state })
    }
  }),
  test('P9 the window counts from the enqueue, however the attempt ends', async (t) => {
    for (const [key, end] of Object.entries(ENDS)) {
      const lease = await t.running(inWindow(key))
      t.clock.advance(10)
      await end(t, lease)
      t.clock.advance(WINDOW - 11)
      await isHeldBy(t, key, lease.id)
      t.clock.advance(1)
      assert.deepEqual(await ask(t, inWindow(key)), ['enqueued', 'new'], key)
    }
  }),
  test('a cancel of a waiting job does not end its window, and deleting a waiting job does', async (t) => {
    for (const state of ['scheduled', 'ready'] as const) {
      const cancelled = await t.jobIn(state, inWindow(`cancelled ${state}`))
      await t.store.cancel([cancelled], 'no')
      await isHeldBy(t, `cancelled ${state}`, cancelled)
      await t.store.delete([cancelled])
      await isHeldBy(t, `cancelled ${state}`, cancelled)
      await t.store.delete([await t.jobIn(state, inWindow(state))])
      assert.deepEqual(await ask(t, inWindow(state)), ['enqueued', 'new'])
    }
  }),
  test('a job whose window is over does not free the key of the next job', async (t) => {
    const old = await t.running(inWindow('k'))
    const waiting = await t.enqueue(inWindow('w'))
    t.clock.advance(WINDOW)
    const next = await t.enqueue({ dedupe: { key: 'k' } })
    const other = await t.enqueue(inWindow('w'))
    await t.finish(old, DONE)
    await t.store.delete([old.id, waiting])
    assert.deepEqual(await ask(t, { dedupe: { key: 'k' } }), ['duplicate', next])
    await isHeldBy(t, 'w', other)
  }),
  test('a retried job with a window does not take its key again', async (t) => {
    for (const state of ['dead', 'cancelled'] as const) {
      const old = await t.jobIn(state, inWindow(state))
      t.clock.advance(WINDOW)
      const next = await t.enqueue(inWindow(state))
      isVerdict(only(await t.store.retry([old])), 'changed', 'ready')
      await isHeldBy(t, state, next)
      t.clock.advance(WINDOW)
      assert.deepEqual(await ask(t, inWindow(state)), ['enqueued', 'new'])
    }
  }),
  test('an enqueue that is sent again after the window is the same job, and takes no key', async (t) => {
    const job = aJob(inWindow('k'))
    await t.store.enqueue([job])
    t.clock.advance(WINDOW)
    assert.deepEqual(await t.store.enqueue([job], { mayRepeat: true }), [{ id: job.id, outcome: 'enqueued' }])
    assert.deepEqual(await ask(t, inWindow('k')), ['enqueued', 'new'])
  }),
  test('items of one call with one window are processed in order', async (t) => {
    const jobs = [aJob(inWindow('k')), aJob(inWindow('k')), aJob(inWindow('other'))]
    assert.deepEqual(pluck(await t.store.enqueue(jobs), 'outcome'), ['enqueued', 'duplicate', 'enqueued'])
  }),
  test('retention deletes a key when its window is over, while its job runs', async (t) => {
    await t.running(inWindow('k'))
    t.clock.advance(WINDOW - 1)
    assert.equal((await t.retain()).keys, 0)
    t.clock.advance(1)
    assert.equal((await t.retain()).keys, 1)
  }),
]

export const dispatchedWindowCases: readonly Case[] = [
  test('a job with a window is not dispatched directly', async (t) => {
    const directDispatch = aDirectDispatch(await t.worker())
    const [job, plain] = [aJob(inWindow('k')), aJob()]
    const replies = await t.store.enqueue([job, plain], { directDispatch })
    assert.deepEqual(replies[0], { id: job.id, outcome: 'enqueued' })
    await t.statesAre([job.id, plain.id], ['ready', 'running'])
  }),
]
