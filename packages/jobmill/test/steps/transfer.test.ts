/** A transfer of parked jobs from one store to the other. */
import { expect, test } from 'vitest'
import { aClaim, aFinish, anInstance, DEAD, only, someJobs } from '../../../conformance/src/factories.ts'
import { kindsOfVersion, storedKind } from '../../src/job/kind/kind-name.ts'
import { anEvent, aStep, aWait, PARKED, received } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { freshPlace, type Sort, transferredTo } from '../transfer/places.ts'

const WAYS = ['postgres', 'sqlite'].flatMap((from) =>
  ['postgres', 'sqlite'].map((to) => [from, to] as [Sort, Sort]),
)

test.each(WAYS)(
  'P18 an event that no stage has seen survives the transfer of its parked job: %s to %s',
  async (from, to) => {
    const source = await freshPlace(from)
    const me = anInstance({ leaseMs: 3_600_000 })
    await source.store.instances.register(me)
    await source.store.enqueue(someJobs([{}]))
    const lease = only(await source.store.claim(aClaim(me.id)))
    await source.store.steps.wait([aWait(lease, 'e', { events: ['e'] })])
    await source.store.finish([aFinish(lease, PARKED)])
    await source.store.instances.deregister(me.id)
    await source.store.stage(10)
    await source.store.steps.send([anEvent(lease.id, 'e')])
    const { store } = await transferredTo(to, source)
    const there = anInstance({ leaseMs: 3_600_000 })
    await store.instances.register(there)
    for (let n = 0; n < 2; n += 1) await store.stage(10)
    const next = only(await store.claim(aClaim(there.id)))
    expect(next).toMatchObject({ id: lease.id, hasSteps: true })
    expect(await store.steps.wait([aWait(next, 'e', { events: ['e'] })])).toEqual([received('e')])
  },
)

test.each(WAYS)('P14 a job keeps its version in a transfer: %s to %s', async (from, to) => {
  const source = await freshPlace(from)
  const me = anInstance({ leaseMs: 3_600_000, kinds: kindsOfVersion('order', 3) })
  await source.store.instances.register(me)
  await source.store.enqueue(someJobs([{ kind: 'order' }, { kind: 'order' }]))
  const leases = await source.store.claim(aClaim(me.id, { kinds: ['order'] }))
  const versionedKind = storedKind({ kind: 'order', minVersion: 3 })
  await source.store.steps.record(leases.map((lease) => ({ ...aStep(lease, 's'), versionedKind })))
  await source.store.finish(leases.map((lease, n) => aFinish(lease, n === 0 ? { to: 'ready' } : DEAD)))
  await source.store.instances.deregister(me.id)
  const { store } = await transferredTo(to, source)
  await store.retry(leases.map(({ id }) => id))
  for (const version of [undefined, 2]) {
    const kinds = kindsOfVersion('order', version)
    const old = anInstance({ leaseMs: 3_600_000, kinds })
    await store.instances.register(old)
    expect(await store.claim(aClaim(old.id, { kinds }))).toEqual([])
  }
  const there = anInstance({ leaseMs: 3_600_000, kinds: kindsOfVersion('order', 4) })
  await store.instances.register(there)
  expect(await store.claim(aClaim(there.id, { kinds: kindsOfVersion('order', 4) }))).toHaveLength(2)
})
