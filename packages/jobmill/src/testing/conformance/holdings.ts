/**
 * What jobs hold in other tables: `held` returns it for running jobs, and a finish returns what it released.
 */
import assert from 'node:assert/strict'
import { type Bench, DEAD, DONE, HOUR, later, only } from './bench.ts'
import type { Case } from './case.ts'
import { claimFrom, setUpLimitedQueues, THREE } from './queue-limit-helpers.ts'

const KEYS = [
  [{ dedupe: { key: 'a' } }, ['key']],
  [{ dedupe: { key: 'b', holdFor: HOUR } }, ['key-after-done']],
  [{ dedupe: { key: 'c', holdFor: HOUR, holdAfter: 'ended' } }, ['key-after-end']],
  [{ orderKey: 'd' }, ['orderLock']],
  [{ dedupe: { key: 'e' }, orderKey: 'e' }, ['key', 'orderLock']],
  [{}, undefined],
] as const

async function heldBy({ store }: Bench, instance: string): Promise<readonly string[] | undefined> {
  return only(await store.held(instance)).holdings
}

export const holdingCases: readonly Case[] = [
  {
    name: 'keys and order locks are reported while a job is running and when it ends, not when it has another attempt',
    async run(t) {
      for (const [request, expected] of KEYS) {
        const first = await t.running(request)
        assert.deepEqual(await heldBy(t, first.instance), expected)
        assert.equal((await t.finish(first, later(0))).released, undefined)
        const { kind } = await t.job(first.id)
        const second = await t.claimOne(first.instance, { kinds: [kind] })
        assert.deepEqual(await heldBy(t, first.instance), [...(expected ?? []), 'attempts'])
        assert.deepEqual((await t.finish(second, DONE)).released, expected)
        // The reply to a repeated finish lists nothing, because nothing was released now.
        assert.equal((await t.finish(second, DONE)).released, undefined)
      }
      const dead = await t.running({ orderKey: 'dead' })
      assert.deepEqual((await t.finish(dead, DEAD)).released, ['orderLock'])
    },
  },
  {
    name: 'permits are reported, and released by every finish',
    async run(t) {
      await setUpLimitedQueues(t.store, THREE)
      for (const transition of [DONE, later(HOUR)]) {
        const instance = await t.worker()
        const lease = only(await claimFrom(t.store, instance, ['mail'], { room: 1 }))
        assert.deepEqual(await heldBy(t, instance), ['permit'])
        assert.deepEqual((await t.finish(lease, transition)).released, ['permit'])
      }
    },
  },
  {
    name: 'tags and a requested cancel are reported',
    async run(t) {
      const lease = await t.running({ tags: ['red'] })
      await t.store.cancel([lease.id], 'why')
      assert.deepEqual(await heldBy(t, lease.instance), ['tags', 'cancel'])
    },
  },
]
