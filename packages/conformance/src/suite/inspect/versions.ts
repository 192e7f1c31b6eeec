/** versions: which version ran an attempt, and for how long it is known. */
import assert from 'node:assert/strict'
import { DEFAULTS } from 'jobmill/store'
import { DEAD, DONE, HOUR, later } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'

/** A worker of this version runs a new job, which fails for good. */
async function deadOn(t: Bench, version: string | null): Promise<[id: string, instance: string]> {
  const instance = await t.worker({ version, leaseMs: 200 * HOUR })
  const lease = await t.running({}, instance)
  await t.finish(lease, DEAD, { error: `no on ${version}` })
  return [lease.id, instance]
}

async function versionsOf(t: Bench, id: string): Promise<(string | null)[]> {
  return (await t.store.history(id)).map(({ version }) => version)
}

export const versionCases: readonly Case[] = [
  test('versions: first and last seen, instances and those alive, latest first', async (t) => {
    assert.deepEqual(await t.store.inspect.versions(), [])
    const firstAt = t.clock.now()
    const old = await t.worker({ version: '1.0' })
    await t.worker({ version: null })
    t.clock.advance(10)
    const [lost, next] = [await t.worker({ version: '1.0', leaseMs: 5 }), await t.worker({ version: '2.0' })]
    const one = { version: '1.0', firstAt, lastAt: firstAt + 10, instances: 2, alive: 2 }
    const two = { version: '2.0', firstAt: firstAt + 10, lastAt: firstAt + 10, instances: 1, alive: 1 }
    assert.deepEqual(await t.store.inspect.versions(), [two, one])
    t.clock.advance(10)
    await t.store.instances.deregister(old)
    const at = t.clock.now()
    const ended = { ...one, lastAt: at, alive: 0 }
    assert.deepEqual(await t.store.inspect.versions(), [{ ...two, lastAt: at }, ended])
    await t.reap()
    t.clock.advance(10)
    assert.deepEqual(await t.store.inspect.versions(), [{ ...two, lastAt: at + 10 }, ended])
    await t.worker({ id: lost, version: '2.0' })
    const both = (await t.store.inspect.versions()).map(({ version, instances }) => [version, instances])
    assert.deepEqual(both, [
      ['2.0', 2],
      ['1.0', 1],
    ])
    await t.store.instances.deregister(next)
    assert.equal((await t.store.inspect.versions())[0]?.alive, 1)
  }),
  test('an attempt has the version of its instance, in its history and its failure', async (t) => {
    const [none] = await deadOn(t, null)
    const [id] = await deadOn(t, '1.0')
    assert.deepEqual(await versionsOf(t, id), ['1.0'])
    await t.store.retry([id])
    const { kind } = await t.job(id)
    const lease = await t.claimOne(await t.worker({ version: '2.0' }), { kinds: [kind] })
    await t.finish(lease, later(HOUR), { error: 'again' })
    assert.deepEqual(await versionsOf(t, id), ['1.0', '2.0'])
    assert.deepEqual(await versionsOf(t, none), [null])
    const failures = await t.store.inspect.failures([id, none])
    assert.deepEqual(
      failures.map((failure) => failure?.version),
      ['2.0', null],
    )
  }),
  test('filters by the version of the last attempt, running or ended', async (t) => {
    const [one] = await deadOn(t, '1.0')
    const [two] = await deadOn(t, '2.0')
    await deadOn(t, null)
    await t.enqueue()
    await t.store.cancel([await t.enqueue()], 'never started')
    const runs = await t.running({}, await t.worker({ version: '2.0' }))
    await t.lists({ version: '1.0' }, [one], [500, 1])
    await t.lists({ version: '2.0' }, [runs.id, two], [500, 1])
    await t.lists({ version: ['1.0', '2.0', '3.0'] }, [runs.id, two, one], [500, 1])
    await t.lists({ version: '3.0' }, [])
    await t.lists({ version: '2.0', state: 'running' }, [runs.id])
    await t.lists({ version: '2.0', state: 'dead', errorText: 'no on' }, [two])
    await t.store.retry([one])
    await t.lists({ version: '1.0', state: 'ready' }, [one])
    const again = await t.claimOne(await t.worker(), { kinds: [(await t.job(one)).kind] })
    await t.lists({ version: '1.0' }, [])
    await t.finish(again, DONE)
    await t.lists({ version: '1.0' }, [])
  }),
  test('the version of an ended instance is known longer than the instance, but not forever', async (t) => {
    const firstAt = t.clock.now()
    const [id, instance] = await deadOn(t, '1.0')
    t.clock.advance(HOUR)
    await t.store.instances.deregister(instance)
    const endedAt = t.clock.now()
    t.clock.advance(DEFAULTS.keepEndedInstanceMs)
    assert.equal((await t.retain()).instances, 1)
    assert.deepEqual(await t.store.instances.list(), [])
    const known = { version: '1.0', firstAt, lastAt: endedAt, instances: 1, alive: 0 }
    assert.deepEqual(await t.store.inspect.versions(), [known])
    assert.deepEqual(await versionsOf(t, id), ['1.0'])
    await t.lists({ version: '1.0' }, [id])
    // A process that was suspended for hours may register again, under its old id.
    await t.worker({ id: instance, version: '1.0' })
    assert.deepEqual(await t.store.inspect.versions(), [
      { ...known, firstAt: t.clock.now(), lastAt: t.clock.now(), alive: 1 },
    ])
    await t.store.instances.deregister(instance)
    t.clock.advance(DEFAULTS.keepVersionsMs - 1)
    await t.retain()
    assert.deepEqual(await versionsOf(t, id), ['1.0'])
    t.clock.advance(1)
    await t.retain()
    await t.retain()
    assert.deepEqual(await t.store.inspect.versions(), [])
    assert.deepEqual(await versionsOf(t, id), [null])
    await t.lists({ version: '1.0' }, [])
  }),
]
