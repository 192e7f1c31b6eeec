/** Slots: how the workers of a queue are split, and what reports that the split may have to change. */
import assert from 'node:assert/strict'
import type { Slot } from 'jobmill/store'
import { anInstance, HOUR } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

function declare({ store }: Bench, ...names: string[]): Promise<void> {
  return store.queues.declare(names.map((name) => ({ name, settings: {} })))
}

/** Checks what a heartbeat reports, as queues and workers. */
async function hasSlots(t: Bench, instance: string, ...expected: [string, number][]): Promise<void> {
  assert.deepEqual(pluck((await t.renew(instance)).slots, 'queue', 'workers'), expected)
}

export const slotCases: readonly Case[] = [
  test('an assignment is reported to the instance by queue, and to others by queue and instance', async (t) => {
    await declare(t, 'a', 'b')
    const ids = [await t.worker(), await t.worker()].toSorted()
    const [first = '', second = ''] = ids
    const slots = [
      { instance: second, queue: 'b', workers: 1 },
      { instance: second, queue: 'a', workers: 2 },
      { instance: first, queue: 'a', workers: 0 },
    ]
    assert.equal(await t.store.instances.assign(slots), 3)
    await hasSlots(t, first, ['a', 0])
    await hasSlots(t, second, ['a', 2], ['b', 1])
    assert.deepEqual(await t.store.instances.slots(), slots.toReversed())
  }),
  test('P15 only differences are written, and counted', async (t) => {
    await declare(t, 'a', 'b')
    const instance = await t.worker()
    const assign = (a: number | null, b: number | null): Promise<number> => {
      const slots = [a, b].map((workers, n) => ({ instance, queue: n === 0 ? 'a' : 'b', workers }))
      return t.store.instances.assign(slots)
    }
    assert.equal(await t.store.instances.assign([]), 0)
    assert.equal(await assign(null, 3), 1)
    assert.equal(await assign(null, 3), 0)
    assert.equal(await assign(2, 3), 1)
    assert.equal(await assign(1, 4), 2)
    assert.equal(await assign(null, 4), 1)
    assert.deepEqual(await t.store.instances.slots(), [{ instance, queue: 'b', workers: 4 }])
  }),
  test('missing queues and instances that are not alive are skipped, the rest is written', async (t) => {
    await declare(t, 'a')
    const ended = await t.endedInstances()
    const [expired, alive] = [await t.worker({ leaseMs: 1 }), await t.worker()]
    t.clock.advance(1)
    const slots = [...ended, expired, alive].map((instance) => ({ instance, queue: 'a', workers: 5 }))
    assert.equal(await t.store.instances.assign(slots), 1)
    assert.equal(await t.store.instances.assign([{ instance: alive, queue: 'nope', workers: 5 }]), 0)
    assert.deepEqual(await t.store.instances.slots(), [{ instance: alive, queue: 'a', workers: 5 }])
    assert.deepEqual(pluck(await t.store.queues.list(), 'name'), ['a'])
  }),
  test('P4 P6 the slots of an instance are deleted when it stops or is lost, and do not return with it', async (t) => {
    await declare(t, 'a')
    const [lost, stopped] = [await t.worker(), await t.worker({ leaseMs: HOUR })]
    const alive = await t.worker({ leaseMs: HOUR })
    const slots = [lost, stopped, alive].map((instance) => ({ instance, queue: 'a', workers: 5 }))
    await t.store.instances.assign(slots)
    await t.store.instances.deregister(stopped)
    t.clock.advance(10_000)
    await t.reap()
    assert.deepEqual(await t.store.instances.slots(), slots.slice(2))
    for (const id of [lost, stopped]) {
      await t.store.instances.register(anInstance({ id }))
      await hasSlots(t, id)
    }
  }),
  test('an instance that renews keeps its slots', async (t) => {
    await declare(t, 'a')
    const instance = await t.worker()
    await t.store.instances.assign([{ instance, queue: 'a', workers: 2 }])
    for (let n = 0; n < 5; n += 1) {
      t.clock.advance(4_000)
      await hasSlots(t, instance, ['a', 2])
    }
  }),
  test('the version of the members rises with every register, stop and loss, and P15 with nothing else', async (t) => {
    await t.enqueue()
    // The heartbeat of an unknown instance writes nothing.
    const current = async (): Promise<number> => (await t.renew(anInstance().id)).membersVersion
    let version = await current()
    const rises = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      const next = await current()
      assert.ok(next > version, `${next} after ${version}`)
      version = next
    }
    const stays = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      assert.equal(await current(), version)
    }
    const one = anInstance({ leaseMs: HOUR })
    const two = anInstance()
    await rises(() => t.store.instances.register(one))
    await rises(() => t.store.instances.register({ ...one, capacity: 99 }))
    await rises(() => t.store.instances.register(two))
    t.clock.advance(4_000)
    await stays(() => t.renew(one.id))
    await stays(() => t.store.instances.assign([{ instance: one.id, queue: 'default', workers: 1 }]))
    await rises(() => t.store.instances.deregister(one.id))
    await stays(() => t.store.instances.deregister(one.id))
    await stays(() => t.store.instances.deregister(anInstance().id))
    t.clock.advance(10_000)
    await stays(() => Promise.resolve())
    await rises(() => t.reap())
    await stays(() => t.reap())
    await rises(() => t.worker())
  }),
  test('concurrent assignments from several handles leave one of them for each queue and instance', async (t) => {
    await declare(t, 'a', 'b')
    const stores = await t.handles(3)
    const ids = [await t.worker(), await t.worker()]
    const split = (workers: number): Slot[] =>
      ids.flatMap((instance) => ['a', 'b'].map((queue) => ({ instance, queue, workers })))
    for (let round = 0; round < 5; round += 1) {
      const written = await Promise.all(stores.map((each, n) => each.instances.assign(split(3 * round + n))))
      assert.ok(written.every((rows) => rows <= 4) && written.some((rows) => rows > 0))
      const slots = await t.store.instances.slots()
      assert.equal(slots.length, 4)
      assert.ok(slots.every(({ workers }) => Math.floor(workers / 3) === round))
    }
  }),
  test('P6 an assignment racing the stop of its instance leaves no slot behind', async (t) => {
    await declare(t, 'a')
    const other = await t.another()
    for (let round = 0; round < 10; round += 1) {
      const instance = await t.worker()
      await Promise.all([
        t.store.instances.deregister(instance),
        other.instances.assign([{ instance, queue: 'a', workers: 1 }]),
      ])
      assert.deepEqual(await t.store.instances.slots(), [])
    }
  }),
]
