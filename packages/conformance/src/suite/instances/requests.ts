/** request: what an operator asks of one instance, from its write to its effect on claims and duties. */
import assert from 'node:assert/strict'
import type { InstanceRequest } from 'jobmill/store'
import { aDirectDispatch, aJob, anInstance, DONE, HOUR, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'

const NONE = { requested: null, requestedBy: null }
const REQUESTS: readonly InstanceRequest[] = ['quiet', 'stop']
const BIDS = ['reap', 'retain'].map((name) => ({ name, succeededAgoMs: null, failures: 0 }))

export const requestCases: readonly Case[] = [
  test('P7 a request is stored with its author and time, and the next heartbeat reports it', async (t) => {
    const id = await t.worker({ leaseMs: HOUR })
    hasFields(await t.renew(id), NONE)
    t.clock.advance(5)
    const stored = { requested: 'quiet', requestedBy: 'ada' } as const
    const record = await t.store.instances.request(id, 'quiet', 'ada')
    assert.deepEqual(record, await t.instanceOf(id))
    hasFields(record, { ...stored, requestedAt: t.clock.now(), state: 'alive', endedAt: null })
    hasFields(await t.renew(id), stored)
    // Whether or not the heartbeat writes the row.
    hasFields(await t.renew(id, { renewEveryMs: 0 }), stored)
    hasFields(await t.store.instances.request(id, null, 'bob'), { ...NONE, requestedAt: null })
    hasFields(await t.renew(id), NONE)
  }),
  test('the same request again changes nothing, and P15 a heartbeat of a quiet instance writes nothing', async (t) => {
    const id = await t.worker({ leaseMs: HOUR })
    const first = await t.store.instances.request(id, 'quiet', 'ada')
    const { membersVersion } = await t.renew(id)
    t.clock.advance(1_000)
    assert.deepEqual(await t.store.instances.request(id, 'quiet', 'bob'), first)
    const heartbeat = await t.changesNothing(() => t.renew(id))
    assert.equal(heartbeat.membersVersion, membersVersion)
    const none = await t.worker()
    hasFields(await t.store.instances.request(none, null, 'ada'), NONE)
  }),
  test('a request changes the version of the members, so that the others take its share', async (t) => {
    const [id, other] = [await t.worker(), await t.worker()]
    const versions = [(await t.renew(other)).membersVersion]
    for (const request of ['quiet', null, 'stop'] as const) {
      await t.store.instances.request(id, request, 'ada')
      versions.push((await t.renew(other)).membersVersion)
    }
    assert.equal(new Set(versions).size, versions.length)
  }),
  ...REQUESTS.map((request) =>
    test(`P2 an instance that was asked for ${request} gets no lease from a claim, and its jobs go to others`, async (t) => {
      const id = await t.worker()
      const held = await t.running({}, id)
      const waiting = await t.enqueue()
      await t.store.instances.request(id, request, 'ada')
      assert.deepEqual(await t.claim(id), [])
      // Even if it is registered again, for example after it served another queue.
      await t.store.instances.register(anInstance({ id }))
      assert.deepEqual(await t.claim(id), [])
      assert.deepEqual(pluck(await t.claim(await t.worker()), 'id'), [waiting])
      // It keeps its running job.
      await t.jobIs(held.id, { state: 'running', instance: id })
      assert.equal((await t.finish(held, DONE)).accepted, true)
    }),
  ),
  {
    name: 'P2 direct dispatch leases no job to a quiet instance, and again after it is resumed',
    needs: ['directDispatch'],
    async run(t) {
      const id = await t.worker()
      const dispatch = async (): Promise<boolean> => {
        const reply = only(await t.store.enqueue([aJob()], { directDispatch: aDirectDispatch(id) }))
        return reply.lease !== undefined
      }
      await t.store.instances.request(id, 'quiet', 'ada')
      assert.equal(await dispatch(), false)
      await t.store.instances.request(id, null, 'ada')
      assert.equal((await t.claim(id)).length, 1)
      assert.equal(await dispatch(), true)
    },
  },
  test('P9 a quiet instance keeps its duties; one that was asked to stop releases them and takes none', async (t) => {
    const [first, second] = [await t.worker(), await t.worker()]
    const leads = async (id: string): Promise<readonly string[]> =>
      (await t.renew(id, { duties: BIDS })).leads
    assert.deepEqual(await leads(first), ['reap', 'retain'])
    await t.store.instances.request(first, 'quiet', 'ada')
    assert.deepEqual(await leads(first), ['reap', 'retain'])
    await t.store.instances.request(first, 'stop', 'ada')
    assert.deepEqual(await leads(first), [])
    assert.deepEqual(pluck(await t.store.instances.duties(), 'leader'), [null, null])
    assert.deepEqual(await leads(second), ['reap', 'retain'])
  }),
  test('a stop cannot be withdrawn', async (t) => {
    const id = await t.worker()
    await t.store.instances.request(id, 'stop', 'ada')
    for (const request of ['quiet', null] as const)
      await rejectsWith('INSTANCE_ENDED', () => t.store.instances.request(id, request, 'bob'))
    hasFields(await t.store.instances.request(id, 'stop', 'bob'), { requested: 'stop', requestedBy: 'ada' })
  }),
  test('a request of an instance that is lost, stopped or unknown is refused, and writes nothing', async (t) => {
    const [lost, stopped, unknown] = await t.endedInstances()
    const before = await t.store.instances.list()
    for (const request of ['quiet', 'stop', null] as const) {
      for (const id of [lost, stopped])
        await rejectsWith('INSTANCE_ENDED', () => t.store.instances.request(id ?? '', request, 'ada'))
      await rejectsWith('INSTANCE_UNKNOWN', () => t.store.instances.request(unknown ?? '', request, 'ada'))
    }
    assert.deepEqual(await t.store.instances.list(), before)
  }),
  test('P4 a quiet instance that crashes is reaped like any other', async (t) => {
    const lease = await t.running()
    await t.store.instances.request(lease.instance, 'quiet', 'ada')
    t.clock.advance(10_001)
    assert.deepEqual((await t.reap()).instances, [lease.instance])
    await t.jobIs(lease.id, { state: 'ready', crashes: 1 })
    hasFields(await t.renew(lease.instance), { alive: false, ...NONE })
  }),
  test('concurrent requests from several handles leave one of them', async (t) => {
    const [store, other] = await t.handles(2)
    const id = await t.worker()
    await Promise.all([
      store.instances.request(id, 'quiet', 'ada'),
      other.instances.request(id, 'quiet', 'bob'),
      store.instances.request(id, 'quiet', 'cy'),
    ])
    const record = await t.instanceOf(id)
    assert.equal(record?.requested, 'quiet')
    assert.ok(['ada', 'bob', 'cy'].includes(record.requestedBy ?? ''))
  }),
]
