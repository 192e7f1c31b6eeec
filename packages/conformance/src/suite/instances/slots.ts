/** Slots: how the workers of a queue are split, and what reports that the split may have to change. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type FullStore, type Slot } from 'jobmill/store'
import { anInstance, aHeartbeat } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

async function declare(store: FullStore, ...names: string[]): Promise<void> {
  await store.queues.declare(names.map((name) => ({ name, settings: DEFAULT_QUEUE_SETTINGS })))
}

async function slotsOf(store: FullStore, instance: string): Promise<[string, number][]> {
  const { slots } = await store.instances.renew(aHeartbeat(instance))
  return slots.map(({ queue, workers }) => [queue, workers])
}

async function membersVersion(store: FullStore): Promise<number> {
  // The heartbeat of an unknown instance writes nothing.
  return (await store.instances.renew(aHeartbeat(anInstance().id))).membersVersion
}

export const slotCases: readonly Case[] = [
  test('an assignment is reported to the instance by queue, and to others by queue and instance', async (t) => {
    const { store, worker } = t
    await declare(store, 'a', 'b')
    const ids = [await worker(), await worker()].toSorted()
    const [first = '', second = ''] = ids
    const slots = [
      { instance: second, queue: 'b', workers: 1 },
      { instance: second, queue: 'a', workers: 2 },
      { instance: first, queue: 'a', workers: 0 },
    ]
    assert.equal(await store.instances.assign(slots), 3)
    assert.deepEqual(await slotsOf(store, first), [['a', 0]])
    assert.deepEqual(await slotsOf(store, second), [
      ['a', 2],
      ['b', 1],
    ])
    assert.deepEqual(await store.instances.slots(), slots.toReversed())
  }),
  test('P15 only differences are written, and counted', async ({ store, worker }) => {
    await declare(store, 'a', 'b')
    const instance = await worker()
    const slots = (a: number | null, b: number | null): Parameters<FullStore['instances']['assign']>[0] => [
      { instance, queue: 'a', workers: a },
      { instance, queue: 'b', workers: b },
    ]
    assert.equal(await store.instances.assign([]), 0)
    assert.equal(await store.instances.assign(slots(null, 3)), 1)
    assert.equal(await store.instances.assign(slots(null, 3)), 0)
    assert.equal(await store.instances.assign(slots(2, 3)), 1)
    assert.equal(await store.instances.assign(slots(1, 4)), 2)
    assert.equal(await store.instances.assign(slots(null, 4)), 1)
    assert.deepEqual(await store.instances.slots(), [{ instance, queue: 'b', workers: 4 }])
  }),
  test('missing queues and instances that are not alive are skipped, the rest is written', async (t) => {
    const { store, clock, worker, endedInstances } = t
    await declare(store, 'a')
    const ended = await endedInstances()
    const [expired, alive] = [await worker({ leaseMs: 1 }), await worker()]
    clock.advance(1)
    const instances = [...ended, expired, alive]
    assert.equal(
      await store.instances.assign(instances.map((instance) => ({ instance, queue: 'a', workers: 5 }))),
      1,
    )
    assert.equal(await store.instances.assign([{ instance: alive, queue: 'nope', workers: 5 }]), 0)
    assert.deepEqual(await store.instances.slots(), [{ instance: alive, queue: 'a', workers: 5 }])
    assert.deepEqual(pluck(await store.queues.list(), 'name'), ['a'])
  }),
  test('P4 P6 the slots of an instance are deleted when it stops or is lost, and do not return with it', async (t) => {
    const { store, clock, worker, reap } = t
    await declare(store, 'a')
    const [lost, stopped, alive] = [
      await worker(),
      await worker({ leaseMs: HOUR }),
      await worker({ leaseMs: HOUR }),
    ]
    const slots = [lost, stopped, alive].map((instance) => ({ instance, queue: 'a', workers: 5 }))
    await store.instances.assign(slots)
    await store.instances.deregister(stopped)
    clock.advance(10_000)
    await reap()
    assert.deepEqual(await store.instances.slots(), slots.slice(2))
    for (const id of [lost, stopped]) {
      await store.instances.register(anInstance({ id }))
      assert.deepEqual(await slotsOf(store, id), [])
    }
  }),
  test('an instance that renews keeps its slots', async ({ store, clock, worker }) => {
    await declare(store, 'a')
    const instance = await worker()
    await store.instances.assign([{ instance, queue: 'a', workers: 2 }])
    for (let n = 0; n < 5; n += 1) {
      clock.advance(4_000)
      assert.deepEqual(await slotsOf(store, instance), [['a', 2]])
    }
  }),
  test('the version of the members rises with every register, stop and loss, and P15 with nothing else', async (t) => {
    const { store, clock, worker, enqueue, reap } = t
    await enqueue()
    let version = await membersVersion(store)
    const rises = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      const next = await membersVersion(store)
      assert.ok(next > version, `${next} after ${version}`)
      version = next
    }
    const stays = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      assert.equal(await membersVersion(store), version)
    }
    const one = anInstance({ leaseMs: HOUR })
    const two = anInstance()
    await rises(() => store.instances.register(one))
    await rises(() => store.instances.register({ ...one, capacity: 99 }))
    await rises(() => store.instances.register(two))
    clock.advance(4_000)
    await stays(() => store.instances.renew(aHeartbeat(one.id)))
    await stays(() => store.instances.assign([{ instance: one.id, queue: 'default', workers: 1 }]))
    await rises(() => store.instances.deregister(one.id))
    await stays(() => store.instances.deregister(one.id))
    await stays(() => store.instances.deregister(anInstance().id))
    clock.advance(10_000)
    await stays(() => Promise.resolve())
    await rises(() => reap())
    await stays(() => reap())
    await rises(() => worker())
  }),
  test('concurrent assignments from several handles leave one of them for each queue and instance', async (t) => {
    const { store, another, worker } = t
    await declare(store, 'a', 'b')
    const stores = [store, await another(), await another()]
    const ids = [await worker(), await worker()]
    const split = (workers: number): Slot[] =>
      ids.flatMap((instance) => ['a', 'b'].map((queue) => ({ instance, queue, workers })))
    for (let round = 0; round < 5; round += 1) {
      const written = await Promise.all(stores.map((each, n) => each.instances.assign(split(3 * round + n))))
      assert.ok(written.every((rows) => rows <= 4) && written.some((rows) => rows > 0))
      const slots = await store.instances.slots()
      assert.equal(slots.length, 4)
      assert.ok(slots.every(({ workers }) => Math.floor(workers / 3) === round))
    }
  }),
  test('P6 an assignment racing the stop of its instance leaves no slot behind', async (t) => {
    const { store, another, worker } = t
    await declare(store, 'a')
    const other = await another()
    for (let round = 0; round < 10; round += 1) {
      const instance = await worker()
      await Promise.all([
        store.instances.deregister(instance),
        other.instances.assign([{ instance, queue: 'a', workers: 1 }]),
      ])
      assert.deepEqual(await store.instances.slots(), [])
    }
  }),
]
