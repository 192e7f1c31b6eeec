// Attempts that wait are parked: alone or together, with and without an open wait, with permits.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { LeaseName } from '../../lease-name.ts'
import { type System, tokenOf } from '../../systems.ts'
import { ask, type World } from '../../world.ts'
import { sendFinishes } from '../finish.ts'
import { anyOne, stepOf, type Weighted } from '../names.ts'
import { dropLeases, leaseOf, leasesOf } from './leases.ts'
import { aFan, aWait, nameStart, sendStart, sendWaits, waitForChildren, waitsOf } from './writes.ts'
import { stageAll } from '../../durable/settle.ts'

const LIMIT = 'permits'

async function permitsIn({ store }: System): Promise<number> {
  return (await store.limits.list()).find(({ name }) => name === LIMIT)?.held ?? 0
}

async function acquire(world: World, { id, claim }: LeaseName): Promise<void> {
  const instance = world.workers.find(({ hand }) => hand.some((one) => one.id === id))?.instance
  if (instance === undefined) return
  const wanted = { limit: LIMIT, key: undefined, holder: id, instance, amount: 1, waitUpToMs: 0 }
  await ask(
    world,
    'acquire before a park',
    (system) => system.store.limits.acquire([{ ...wanted, token: tokenOf(system, { id, claim }) }]),
    (replies) => replies,
  )
}

/** P18: after it, the jobs hold no permits that they did not hold before. */
async function park(world: World, leases: readonly LeaseName[], takesPermits: boolean): Promise<void> {
  const before = await Promise.all(world.systems.map(permitsIn))
  if (takesPermits) for (const lease of leases) await acquire(world, lease)
  dropLeases(world, leases)
  const parks = leases.map(
    (lease) => ({ ...lease, transition: { to: 'parked' }, outcome: 'parked' }) as const,
  )
  await sendFinishes(world, parks)
  await stageAll(world)
  const jobs = (await world.systems[0]?.store.get(leases.map(({ id }) => id))) ?? []
  // The token of one of them may have been stale.
  if (jobs.some((job) => job?.state === 'running')) return
  for (const [n, system] of world.systems.entries()) {
    const held = await permitsIn(system)
    assert.ok(held <= (before[n] ?? 0), `P18 ${system.name}: parked jobs hold ${held} permits`)
  }
}

const waiting = fc.record({
  lease: anyOne,
  waits: fc.array(aWait, { maxLength: 3 }),
  fan: fc.option(aFan, { freq: 2, nil: undefined }),
  takesPermits: fc.boolean(),
})

export const parkSteps: readonly Weighted[] = [
  stepOf(16, 'wait and park', waiting, async (world, { lease: by, waits, fan, takesPermits }) => {
    const lease = leaseOf(world, by)
    if (lease === undefined) return
    await sendWaits(world, waitsOf(world, lease, waits))
    if (fan !== undefined) {
      await sendStart(world, nameStart(world, lease, fan))
      await waitForChildren(world, lease, { name: fan.name, records: false })
    }
    await park(world, [lease], takesPermits)
  }),
  // Whatever they wait for, or nothing.
  stepOf(
    4,
    'park',
    fc.record({ leases: fc.array(anyOne, { minLength: 1, maxLength: 3 }), takesPermits: fc.boolean() }),
    async (world, { leases, takesPermits }) => {
      await park(world, leasesOf(world, leases), takesPermits)
    },
  ),
]
