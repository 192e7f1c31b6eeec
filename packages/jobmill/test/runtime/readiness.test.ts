/** Readiness: whether a process can do its work, and which problems exist in other processes. */
import { describe, expect, onTestFinished } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, JobmillError } from '../../src/index.ts'
import { faultyMill, places } from './places.ts'

const job = defineJob({ kind: 'a', run: () => 1 })

describe.each(places)('readiness on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  test('a working mill is ready, and one that stops is not', async () => {
    const mill = await create().mill({ jobs: [job] })
    expect(await mill.readiness()).toMatchObject({ ready: true, degraded: [] })
    const stopping = mill.stop()
    expect(await mill.readiness()).toMatchObject({
      ready: false,
      checks: { heartbeat: { ok: false, message: 'this process is stopping' } },
    })
    await stopping
    expect(await mill.readiness()).toMatchObject({ ready: false, checks: { store: { ok: false } } })
  })

  test('a mill that is starting is not ready', async () => {
    const mill = await faultyMill(create(), { jobs: [job], start: false })
    const held = mill.store.hold('instances.register')
    const starting = mill.start()
    await held.reached
    expect(await mill.readiness()).toMatchObject({
      ready: false,
      checks: { heartbeat: { message: 'this process is starting' } },
    })
    held.release()
    await starting
    expect(await mill.readiness()).toMatchObject({ ready: true })
  })

  test('P16 a store that does not answer makes it unready until it answers', async () => {
    const mill = await faultyMill(create(), { jobs: [job] })
    mill.store.fail('instances.duties', {
      error: new JobmillError('STORE_UNAVAILABLE', 'postgres://ada:secret@host is gone'),
    })
    const answer = await mill.readiness()
    expect(answer).toMatchObject({
      ready: false,
      checks: { store: { ok: false, message: 'not available: STORE_UNAVAILABLE' } },
    })
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(await mill.readiness()).toMatchObject({ ready: true })
  })

  test('P16 an instance that could not renew its lease is not ready', async () => {
    const mill = await faultyMill(create(), { jobs: [job] })
    mill.store.fail('instances.renew', { times: 1_000 })
    await mill.clock.advance('11s')
    expect(await mill.readiness()).toMatchObject({ ready: false, checks: { heartbeat: { ok: false } } })
    mill.store.clear()
    await mill.clock.advance('5s')
    expect(await mill.readiness()).toMatchObject({ ready: true })
  })

  test('P16 a duty of this process that fails repeatedly makes it unready', async () => {
    const duty = { name: 'own', every: '1s', run: () => Promise.reject(new Error('no')) }
    const mill = await create().mill({ jobs: [job], duties: [duty] })
    await mill.clock.advance('2m')
    expect(await mill.readiness()).toMatchObject({ ready: false, checks: { duties: { ok: false } } })
  })

  test('P16 an overdue duty of the cluster is degraded, not unready', async () => {
    const place = create()
    const mill = await place.mill({ jobs: [job] })
    const other = place.store(mill.platform)
    await other.open()
    onTestFinished(() => other.close())
    const instance = mill.platform.id()
    const about = { label: null, version: null, queues: ['x'], kinds: [], onDead: [], capacity: 1 }
    await other.instances.register({ id: instance, ...about, leaseMs: 3_600_000 })
    const bid = { name: 'their-sweep', succeededAgoMs: 1_200_000, failures: 0 }
    const request = { instance, leaseMs: 3_600_000, renewEveryMs: 0, queues: [], kinds: [], duties: [bid] }
    await other.instances.renew(request)
    expect(await mill.readiness()).toMatchObject({
      ready: true,
      degraded: ['their-sweep last succeeded 20 min ago'],
    })
  })
})
