/** Dedupe keys until the start: held while the job waits for its first start. */
import assert from 'node:assert/strict'
import type { JobRequest } from 'jobmill/store'
import { aJob, DEAD, DONE, FORGET, HOUR, later, only } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, isVerdict, pluck } from '../looks.ts'

const untilStarted = (key: string) => ({ dedupe: { key, until: 'started' as const } })

async function ask({ store }: Bench, request: Partial<JobRequest>): Promise<[string, string]> {
  const job = aJob(request)
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id === job.id ? 'new' : id]
}

function isHeldBy(t: Bench, key: string, holder: string): Promise<void> {
  return t
    .changesNothing(() => ask(t, { dedupe: { key } }))
    .then((reply) => assert.deepEqual(reply, ['duplicate', holder], key))
}

/** What can happen to a job that has started, by name. */
const NEXT: Readonly<Record<string, (t: Bench, lease: HeldLease) => Promise<unknown>>> = {
  done: (t, lease) => t.finish(lease, DONE),
  forgotten: (t, lease) => t.finish(lease, FORGET),
  dead: (t, lease) => t.finish(lease, DEAD),
  'waiting for a retry': (t, lease) => t.finish(lease, later(HOUR)),
  'retried at once': (t, lease) => t.finish(lease, later(0)),
  'ready again': (t, lease) => t.store.instances.deregister(lease.instance),
  crashed: (t) => t.crash(),
  async 'cancelled and retried'(t, lease) {
    await t.store.cancel([lease.id], 'no')
    await t.finish(lease, DEAD)
    isVerdict(only(await t.store.retry([lease.id])), 'changed', 'ready')
  },
  async 'waiting, then deleted'(t, lease) {
    await t.finish(lease, later(HOUR))
    await t.store.delete([lease.id])
  },
  async 'waiting, then cancelled'(t, lease) {
    await t.finish(lease, later(HOUR))
    await t.store.cancel([lease.id], 'no')
  },
}

export const untilStartedCases: readonly Case[] = [
  test('a key until the start is held while its job is scheduled or ready, and is free while it runs', async (t) => {
    for (const state of ['scheduled', 'ready'] as const)
      await isHeldBy(t, state, await t.jobIn(state, untilStarted(state)))
    const running = await t.running(untilStarted('k'))
    const next = await t.enqueue(untilStarted('k'))
    await isHeldBy(t, 'k', next)
    await t.statesAre([running.id, next], ['running', 'ready'])
  }),
  test('a key until the start is held while its job waits for its order lock', async (t) => {
    const first = await t.running({ orderKey: 'o' })
    const waiting = await t.enqueue({ orderKey: 'o', ...untilStarted('k') })
    await t.store.stage(10)
    await isHeldBy(t, 'k', waiting)
    await t.finish(first, DONE)
    await t.store.stage(10)
    await isHeldBy(t, 'k', waiting)
    assert.equal((await t.claimOne(await t.worker())).id, waiting)
    await t.enqueue(untilStarted('k'))
  }),
  test('a job that has started neither takes its key again nor frees it for the job that holds it now', async (t) => {
    for (const [key, happens] of Object.entries(NEXT)) {
      const old = await t.running(untilStarted(key))
      const next = await t.enqueue(untilStarted(key))
      await happens(t, old)
      await isHeldBy(t, key, next)
      await t.store.cancel([next], 'no')
      assert.deepEqual(await ask(t, untilStarted(key)), ['enqueued', 'new'], key)
    }
  }),
  test('a second claim of a job does not free the key that another job holds', async (t) => {
    for (const end of [later(0), later(10)]) {
      const lease = await t.running(untilStarted('k'))
      const next = await t.enqueue(untilStarted('k'))
      await t.finish(lease, end)
      t.clock.advance(10)
      await t.store.stage(10)
      assert.equal((await t.claimAgain(lease)).id, lease.id)
      await isHeldBy(t, 'k', next)
      await t.store.delete([next])
    }
  }),
  test('one claim frees the keys of all of its jobs that are held until the start, and no other', async (t) => {
    const started = await Promise.all(['a', 'b'].map((key) => t.enqueue(untilStarted(key))))
    const others = [
      await t.enqueue({ dedupe: { key: 'c' } }),
      await t.enqueue({ dedupe: { key: 'd', window: HOUR } }),
    ]
    await t.enqueue()
    const waiting = await t.enqueue({ ...untilStarted('e'), delay: HOUR })
    assert.equal((await t.claim(await t.worker())).length, started.length + others.length + 1)
    for (const key of ['a', 'b']) assert.deepEqual(await ask(t, untilStarted(key)), ['enqueued', 'new'])
    await isHeldBy(t, 'c', others[0] ?? '')
    await isHeldBy(t, 'd', others[1] ?? '')
    await isHeldBy(t, 'e', waiting)
  }),
  test('jobs with one key that end in one call keep the hold of the one that has a hold time', async (t) => {
    const old = await t.running(untilStarted('k'))
    await t.finish(old, later(HOUR))
    const holder = await t.enqueue({ dedupe: { key: 'k', holdFor: HOUR, holdAfter: 'ended' } })
    assert.deepEqual(pluck(await t.store.cancel([old.id, holder], 'no'), 'state'), ['cancelled', 'cancelled'])
    await isHeldBy(t, 'k', holder)
    t.clock.advance(HOUR)
    assert.deepEqual(await ask(t, untilStarted('k')), ['enqueued', 'new'])
  }),
  test('replace changes a job that holds its key until the start, and a later one is new once it runs', async (t) => {
    const replace = { dedupe: { key: 'k', until: 'started', onConflict: 'replace' } } as const
    const holder = await t.enqueue(replace)
    assert.deepEqual(await ask(t, { ...replace, payload: 2 }), ['replaced', holder])
    hasFields(await t.claimOne(await t.worker()), { id: holder, payload: '2' })
    assert.deepEqual(await ask(t, { ...replace, payload: 3 }), ['enqueued', 'new'])
  }),
  test('cancelling or deleting a job that has not started frees its key', async (t) => {
    for (const state of ['scheduled', 'ready'] as const)
      for (const end of ['cancel', 'delete'] as const) {
        const key = `${end} ${state}`
        const id = await t.jobIn(state, untilStarted(key))
        await (end === 'cancel' ? t.store.cancel([id], 'no') : t.store.delete([id]))
        await t.enqueue(untilStarted(key))
      }
  }),
]
