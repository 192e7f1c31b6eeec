/** Versions of the application: when they ran, and which of them brought an error. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import {
  aClaim,
  aFinish,
  anInstance,
  DEAD,
  DONE,
  HOUR,
  someJobs,
} from '../../../conformance/src/factories.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { subjects } from './stores.ts'

/** A process of this version runs new jobs of the kind `pay`, which fail for good with this error. */
async function failOn(mill: TestMill, version: string | null, error: string, jobs = 1): Promise<void> {
  const { store } = mill
  const { id: instance } = await registered(mill, version)
  for (let left = jobs; left > 0; left -= 500) {
    await store.enqueue(someJobs(Array.from({ length: Math.min(left, 500) }, () => ({ kind: 'pay' }))))
    const leases = await store.claim(aClaim(instance, { kinds: ['pay'], limit: 500, queues: ROOM }))
    await store.finish(leases.map((lease) => aFinish(lease, DEAD, { error, outcome: 'failed' })))
  }
  await mill.platform.advance(1_000)
}

const ROOM = [{ queue: 'default', room: 500 }]

async function registered({ store }: TestMill, version: string | null) {
  const instance = anInstance({ version, kinds: ['pay'], leaseMs: 100 * HOUR })
  await store.instances.register(instance)
  return instance
}

const found = async (mill: TestMill): Promise<unknown[]> =>
  (await mill.errors()).groups.map(({ shape, versions, newIn }) => ({
    shape,
    versions: versions.map(({ version, jobs }) => `${version}: ${jobs}`).join(', '),
    newIn,
  }))

describe.each(subjects)('versions on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('are known with the times at which they ran, and with their processes', async () => {
    const mill = await create({ serve: ['other'] })
    expect(await mill.versions()).toEqual([])
    const firstAt = mill.platform.now()
    const { id } = await registered(mill, '2.14.0')
    await mill.platform.advance(1_000)
    await registered(mill, '2.15.0')
    await mill.store.instances.deregister(id)
    expect(await mill.versions()).toEqual([
      { version: '2.15.0', firstAt: firstAt + 1_000, lastAt: firstAt + 1_000, instances: 1, alive: 1 },
      { version: '2.14.0', firstAt, lastAt: firstAt + 1_000, instances: 1, alive: 0 },
    ])
  })

  test('an error says on which versions it happened, and in which it is new', async () => {
    const mill = await create({ serve: ['other'] })
    await failOn(mill, '2.14.0', 'Error: card declined', 2)
    expect(await found(mill)).toEqual([{ shape: 'Error: card declined', versions: '2.14.0: 2', newIn: null }])
    await failOn(mill, '2.15.0', 'TlsError: no certificate', 4)
    await failOn(mill, '2.15.0', 'Error: card declined')
    expect(await found(mill)).toEqual([
      { shape: 'TlsError: no certificate', versions: '2.15.0: 4, 2.14.0: 0', newIn: '2.15.0' },
      { shape: 'Error: card declined', versions: '2.15.0: 1, 2.14.0: 2', newIn: null },
    ])
    // A time range leaves out the older failure, and the error is still not new.
    const { jobs: declined } = await mill.list({ version: '2.15.0', errorText: 'declined' })
    const failedFrom = declined[0]?.endedAt ?? 0
    const { groups } = await mill.errors({ failedFrom })
    const ranged = groups.find(({ shape }) => shape === 'Error: card declined')
    expect(ranged).toMatchObject({ dead: 1, newIn: null })
    expect(await mill.errors({ failedBefore: failedFrom })).toMatchObject({ total: 2 })
    // Still new in the version that brought it, after the next deploy.
    await failOn(mill, '2.16.0', 'TlsError: no certificate')
    expect((await found(mill))[0]).toEqual({
      shape: 'TlsError: no certificate',
      versions: '2.16.0: 1, 2.15.0: 4, 2.14.0: 0',
      newIn: '2.15.0',
    })
    // A failure of an unknown version may be older than all others.
    await failOn(mill, null, 'TlsError: no certificate')
    expect((await found(mill))[0]).toMatchObject({ newIn: null })
    const { jobs } = await mill.list({ version: ['2.15.0', '2.16.0'], state: 'dead' })
    expect(jobs).toHaveLength(6)
    expect(await mill.count({ version: '2.14.0' })).toMatchObject({ jobs: 2 })
    expect(await mill.bulk.preview('retry', { version: '2.14.0' })).toMatchObject({ jobs: 2 })
  })

  test('in an incident that fills the scan, an error that was there before the deploy is not new', async () => {
    const mill = await create({ serve: ['other'] })
    await failOn(mill, '2.14.0', 'Error: card declined')
    const { id } = await registered(mill, '2.14.0')
    await mill.store.enqueue(someJobs([{ kind: 'pay' }]))
    const leases = await mill.store.claim(aClaim(id, { kinds: ['pay'] }))
    await mill.store.finish(leases.map((lease) => aFinish(lease, DONE)))
    await failOn(mill, '2.15.0', 'Error: card declined', 1_101)
    await failOn(mill, '2.15.0', 'TlsError: no certificate', 900)
    const [old, fresh] = await found(mill)
    expect(old).toEqual({ shape: 'Error: card declined', versions: '2.15.0: 1100, 2.14.0: 1', newIn: null })
    expect(fresh).toMatchObject({ versions: '2.15.0: 900, 2.14.0: 0', newIn: '2.15.0' })
  })
})
