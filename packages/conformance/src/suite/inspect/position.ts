/** position: how many ready jobs would be claimed before one. */
import assert from 'node:assert/strict'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'

export const positionCases: readonly Case[] = [
  test('P9 now is the clock of the database', async ({ store, clock }) => {
    assert.equal(await store.now(), clock.now())
    clock.advance(HOUR)
    assert.equal(await store.now(), clock.now())
  }),
  test('ahead of a job are those of its queue that are claimed first, of any kind, or only of some', async (t) => {
    const { store, enqueue } = t
    const low = await enqueue({ priority: 5, kind: 'a' })
    const first = await enqueue({ kind: 'b' })
    const second = await enqueue({ kind: 'a' })
    await enqueue({ queue: 'other', priority: -9 })
    const urgent = await enqueue({ priority: -1, kind: 'c' })
    const all = await Promise.all([urgent, first, second, low].map((id) => store.inspect.position(id)))
    assert.deepEqual(all, [0, 1, 2, 3])
    const kinds = [['a'], ['a', 'b', 'never'], []]
    assert.deepEqual(await Promise.all(kinds.map((these) => store.inspect.position(low, these))), [1, 2, 0])
  }),
  test('a job that crashed keeps its place', async ({ store, enqueue, running, claimOne, worker, crash }) => {
    const { id } = await running({ kind: 'b' })
    const next = await enqueue({ kind: 'a' })
    await crash(9)
    await claimOne(await worker(), { kinds: ['b'] })
    await crash(9)
    assert.deepEqual([await store.inspect.position(id), await store.inspect.position(next)], [0, 1])
  }),
  test('nothing is ahead of a job that is not ready or does not exist', async ({ store, jobIn }) => {
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const) {
      const id = await jobIn(state)
      assert.equal(await store.inspect.position(id), null, state)
    }
    assert.equal(await store.inspect.position('00000000-0000-7000-8000-000000000000'), null)
  }),
]
