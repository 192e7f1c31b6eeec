/** unservedKinds: kinds with waiting jobs that no running instance handles in their queue. */
import assert from 'node:assert/strict'
import type { FullStore, UnservedKind } from 'jobmill/store'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'

/** `queue kind jobs` of each. */
async function unservedLines(store: FullStore): Promise<string[]> {
  return (await store.inspect.unservedKinds()).map(
    ({ queue, kind, jobs }: UnservedKind) => `${queue} ${kind} ${jobs}`,
  )
}

export const unservedKindCases: readonly Case[] = [
  test('a kind has no worker where no running instance has both it and its queue, by queue and then kind', async (t) => {
    const { store, enqueue, worker } = t
    assert.deepEqual(await store.inspect.unservedKinds(), [])
    for (const [queue, kind] of ['b y', 'b x', 'a y', 'a x', 'a y', 'Z z'].map((text) => text.split(' ')))
      await enqueue({ queue: queue ?? '', kind: kind ?? '' })
    assert.deepEqual(await unservedLines(store), ['Z z 1', 'a x 1', 'a y 2', 'b x 1', 'b y 1'])
    assert.deepEqual((await store.inspect.unservedKinds())[0], { queue: 'Z', kind: 'z', jobs: 1 })
    await worker({ queues: ['a'], kinds: ['x'] })
    await worker({ queues: ['b', 'c'], kinds: ['y', 'z'] })
    assert.deepEqual(await unservedLines(store), ['Z z 1', 'a y 2', 'b x 1'])
    await worker({ queues: ['Z', 'a', 'b'], kinds: ['x', 'y', 'z'] })
    assert.deepEqual(await store.inspect.unservedKinds(), [])
  }),
  test('only ready jobs count as without a worker, including crashed ones', async (t) => {
    const { store, enqueue, running, claimOne, worker, jobIn, crash } = t
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const)
      await jobIn(state, { kind: 'a' })
    await enqueue({ kind: 'a', orderKey: 'o' })
    assert.deepEqual(await unservedLines(store), [])
    await running({ kind: 'b' })
    await crash(9)
    assert.deepEqual(await unservedLines(store), ['default a 1', 'default b 1'])
    await claimOne(await worker(), { kinds: ['b'] })
    await crash(9)
    assert.deepEqual(await unservedLines(store), ['default a 1', 'default b 1'])
    await enqueue({ kind: 'b' })
    assert.deepEqual(await unservedLines(store), ['default a 1', 'default b 2'])
  }),
  test('P9 an instance that is expired, lost or stopped serves nothing, and a revived one does again', async (t) => {
    const { store, clock, enqueue, worker, reap } = t
    await enqueue()
    const id = await worker({ leaseMs: 100 })
    assert.deepEqual(await unservedLines(store), [])
    clock.advance(100)
    assert.deepEqual(await unservedLines(store), ['default work 1'])
    await reap()
    assert.deepEqual(await unservedLines(store), ['default work 1'])
    await worker({ id })
    assert.deepEqual(await unservedLines(store), [])
    await store.instances.deregister(id)
    assert.deepEqual(await unservedLines(store), ['default work 1'])
  }),
  test('paused or cooling queues are reported too', async ({ store, enqueue }) => {
    await enqueue()
    await store.queues.change('default', { settings: { paused: true }, coolMs: HOUR })
    assert.deepEqual(await unservedLines(store), ['default work 1'])
  }),
]
