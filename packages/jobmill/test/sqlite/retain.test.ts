// Retention by number counts by the count rows, and those are written at the end of a transaction: what other verbs moved in the
// same one must be counted too.
import { describe, expect, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue-settings.ts'
import type { Lease } from '../../src/store/claim.ts'
import type { Finish } from '../../src/store/finish.ts'
import type { Store } from '../../src/store/store.ts'
import { aClaim, anInstance, aRetain, QUEUE, someJobs } from '../../src/testing/factories.ts'
import { freshFile, openStore } from './support.ts'

const KEEP = 5
const done = ({ id, token }: Lease): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result: null },
})

/** A queue that keeps five done jobs, and as many running ones as are asked for, each claimed a millisecond after the one before. */
async function running(jobs: number): Promise<{ store: Store; leases: Lease[]; tick: () => void }> {
  let now = 1_000_000
  const store = await openStore(freshFile(), { clock: () => now })
  await store.declareQueues([{ name: QUEUE, settings: { ...DEFAULT_QUEUE_SETTINGS, keepDone: KEEP } }])
  const instance = anInstance()
  await store.register(instance)
  await store.enqueue(someJobs(Array.from({ length: jobs }, () => ({}))))
  return { store, leases: await store.claim(aClaim(instance.id)), tick: () => void (now += 1) }
}

describe('sqlite: retention by number', () => {
  test('with finishes in the same transaction', async () => {
    const { store, leases } = await running(8)
    await Promise.all([store.finish(leases.map(done)), store.retain(aRetain())])
    expect(await store.counts()).toMatchObject([{ done: KEEP }])
  })

  test('with deletes in the same transaction none too many go, and those that stay are the newest', async () => {
    const { store, leases, tick } = await running(8)
    for (const lease of leases) {
      tick()
      await store.finish([done(lease)])
    }
    const ids = leases.map(({ id }) => id)
    const [, retained] = await Promise.all([store.delete(ids.slice(6)), store.retain(aRetain())])
    expect(retained).toMatchObject({ jobs: 1, more: false })
    expect((await store.get(ids)).map((job) => job !== null)).toEqual(ids.map((_, at) => at >= 1 && at < 6))
  })

  test('many, in passes of a few', async () => {
    const { store, leases } = await running(50)
    await store.finish(leases.map(done))
    const passes = []
    for (let more = true; more;) {
      const pass = await store.retain(aRetain({ limit: 20 }))
      passes.push(pass.jobs)
      more = pass.more
    }
    expect(passes).toEqual([20, 20, 5])
  })
})
