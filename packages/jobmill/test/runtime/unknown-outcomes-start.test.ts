// A start that fails at any of its steps: the mill undoes the completed steps, and a second start works.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import type { Verb } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { faultyMill, places } from './places.ts'

const STEPS = [
  'open',
  'queues.declare',
  'queues.list',
  'instances.register',
] as const satisfies readonly Verb[]

/** A job whose service records the calls of its lifecycle. */
function served() {
  const calls: string[] = []
  const job = defineJob({
    kind: 'served',
    run: ({ payload }: JobContext<number>) => payload,
    service: {
      start: async () => void calls.push('start'),
      stop: async () => void calls.push('stop'),
    },
  })
  return { job, calls }
}

describe.each(places)('a start that fails, on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  const at = create()

  test.each(STEPS)('P16 at %s is undone, leaves nothing behind, and can be repeated', async (verb) => {
    const { job, calls } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => `start-${verb}`, start: false })
    const { store, platform } = mill
    for (const spoil of ['fail', 'loseReply'] as const) {
      store[spoil](verb)
      const error = await rejection(() => mill.start())
      expect(error.code).toBe(spoil === 'fail' ? 'STORE_UNAVAILABLE' : 'OUTCOME_UNKNOWN')
      await platform.settled()
      expect(platform.pendingTimers).toBe(0)
      // The failed start leaves neither the store nor the services of the handlers open.
      expect(store.calls('close')).toBe(store.calls('open'))
      expect(calls.at(-1)).toBe('stop')
      const claims = store.calls('claim')
      await platform.advance('20s')
      expect(store.calls('claim')).toBe(claims)
    }
    expect(mill.events.map(({ type }) => type)).not.toContain('mill-started')
    await mill.start()
    const alive = (await mill.instances()).filter(({ state }) => state === 'alive')
    expect(alive.map(({ id }) => id)).toEqual([mill.instance.id])
    const { id } = await mill.enqueue(job, 7)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 7 })
    expect(await mill.stop()).toMatchObject({ interrupted: 0 })
    expect(platform.pendingTimers).toBe(0)
  })

  test('P16 leaves no live instance, although it was registered', async () => {
    const { job } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'registered', start: false })
    await mill.queues()
    mill.store.fail('queues.list')
    await rejection(() => mill.start())
    const me = (await mill.instances()).filter(({ id }) => id === mill.instance.id)
    expect(me).toMatchObject([{ state: 'stopped' }])
  })

  test('P2 P16 deregisters its own instance, even late, and not that of the next start', async () => {
    const { job } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'undone-late', start: false })
    mill.store.fail('queues.list')
    await rejection(() => mill.start())
    const failed = mill.instance.id
    await mill.start()
    await mill.store.instances.deregister(failed)
    const alive = (await mill.instances()).filter(({ state }) => state === 'alive')
    expect(alive.map(({ id }) => id)).toContain(mill.instance.id)
  })

  test('P16 leaves a mill that was used before usable, to enqueue and to read', async () => {
    const { job } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'used', start: false })
    const { id } = await mill.enqueue(job, 1)
    mill.store.fail('instances.register')
    await rejection(() => mill.start())
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })
    expect((await mill.enqueue(job, 2)).outcome).toBe('enqueued')
    // The mill does not open the store again.
    expect(mill.store.calls('open')).toBe(1)
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
  })

  test('P16 a first enqueue that cannot open the store can be repeated too', async () => {
    const { job } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'opening', start: false })
    mill.store.fail('open', { times: 2 })
    for (let tries = 0; tries < 2; tries += 1)
      expect((await rejection(() => mill.enqueue(job, 1))).code).toBe('STORE_UNAVAILABLE')
    expect((await mill.enqueue(job, 1)).outcome).toBe('enqueued')
  })

  test('P16 rejects with the cause of the failure, even if undoing the start fails too', async () => {
    const { job } = served()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'undoing', start: false })
    mill.store.fail('queues.list', { error: new Error('the reason') })
    mill.store.fail('instances.deregister')
    mill.store.fail('close')
    await expect(mill.start()).rejects.toThrow('the reason')
    await mill.start()
    const { id } = await mill.enqueue(job, 1)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
  })
})
