/** P14 P17: the first step of a job decides which versions of its definition may run it. */
import assert from 'node:assert/strict'
import { kindsOfVersion, storedKind } from 'jobmill/store'
import { aJob, DEAD, DONE, HOUR, only } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { anEvent, aStep, aWait, type Held, PARKED } from './step-helpers.ts'

const KIND = 'order'
const inVersion = (minVersion: number): string => storedKind({ kind: KIND, minVersion })

/** The ids that an instance with this version of the definition claims. Without a version: undefined. */
async function claims(t: Bench, version: number | undefined): Promise<HeldLease[]> {
  const kinds = kindsOfVersion(KIND, version)
  return t.claim(await t.worker({ kinds }), { kinds })
}

/** Only instances with version 3 or later claim this ready job. Returns its next lease. */
async function needsVersion3(t: Bench, { id }: Held): Promise<HeldLease> {
  await t.jobIs(id, { state: 'ready', kind: KIND, minVersion: 3 })
  assert.deepEqual(await claims(t, undefined), [])
  assert.deepEqual(await claims(t, 2), [])
  const lease = only(await claims(t, 3))
  assert.equal(lease.id, id)
  assert.equal(lease.kind, KIND)
  return lease
}

const FIRST_STEPS: readonly (readonly [name: string, write: (t: Bench, lease: Held) => Promise<void>])[] = [
  [
    'a recorded step',
    async ({ store }, lease) =>
      assert.deepEqual(await store.steps.record([{ ...aStep(lease, 'a'), versionedKind: inVersion(3) }]), [
        true,
      ]),
  ],
  [
    'a checkpoint',
    async ({ store }, lease) => {
      const item = aStep(lease, 'a', { isDone: false, result: null, checkpoint: '1' })
      assert.deepEqual(await store.steps.record([{ ...item, versionedKind: inVersion(3) }]), [true])
    },
  ],
  [
    'a sleep',
    async ({ store }, lease) => {
      const item = { ...aWait(lease, 'a', { waitMs: HOUR }), versionedKind: inVersion(3) }
      assert.equal(only(await store.steps.wait([item])).accepted, true)
    },
  ],
  [
    'a step with children',
    async ({ store }, lease) => {
      const item = { ...lease, name: 'a', place: 0, jobs: [aJob({ kind: 'child' })] }
      assert.deepEqual(await store.steps.start([{ ...item, versionedKind: inVersion(3) }]), [true])
    },
  ],
]

export const stepVersionCases: readonly Case[] = [
  ...FIRST_STEPS.map(([name, write]) =>
    test(`P14 P17 after ${name}, only instances with that version or a later one claim the job`, async (t) => {
      const lease = await t.running({ kind: KIND })
      await t.jobIs(lease.id, { kind: KIND, minVersion: null })
      await write(t, lease)
      await t.jobIs(lease.id, { state: 'running', kind: KIND, minVersion: 3 })
      await t.finish(lease, { to: 'ready' })
      const next = await needsVersion3(t, lease)
      await t.finish(next, DONE)
      await t.jobIs(lease.id, { state: 'done', minVersion: 3 })
      await t.countsAreExact()
    }),
  ),
  test('P14 later steps, and later versions, do not change the version of a job', async (t) => {
    const lease = await t.running({ kind: KIND })
    await t.store.steps.record([{ ...aStep(lease, 'a'), versionedKind: inVersion(3) }])
    // The next recorded step resets the attempt.
    const failed = { outcome: 'failed', error: 'no' } as const
    await t.finish(lease, { to: 'scheduled', delayMs: 1, refund: false }, failed)
    t.clock.advance(1)
    await t.store.stage(10)
    const next = only(await claims(t, 5))
    await t.store.steps.record([{ ...aStep(next, 'b', { place: 1 }), versionedKind: inVersion(5) }])
    await t.store.steps.wait([{ ...aWait(next, 'c', { place: 2, waitMs: 0 }), versionedKind: inVersion(5) }])
    await t.finish(next, { to: 'ready' })
    await needsVersion3(t, lease)
  }),
  test('P14 a job without recorded steps may run in every version', async (t) => {
    const lease = await t.running({ kind: KIND })
    await t.finish(lease, { to: 'ready' })
    assert.equal(only(await claims(t, undefined)).id, lease.id)
  }),
  {
    name: 'P14 P17 a step in a transaction that was rolled back does not decide the version',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running({ kind: KIND })
      await t.transaction((tx) => t.store.steps.record([aStep(lease, 'a')], { tx }), 'rollback')
      await t.finish(lease, { to: 'ready' })
      const next = only(await claims(t, 3))
      await t.store.steps.record([{ ...aStep(next, 'a'), versionedKind: inVersion(3) }])
      await t.finish(next, { to: 'ready' })
      await needsVersion3(t, lease)
    },
  },
  test('P4 P14 a stale token does not change the version', async (t) => {
    const kinds = [KIND]
    const stale = await t.running({ kind: KIND }, await t.worker({ kinds, leaseMs: 1 }))
    t.clock.advance(1)
    await t.reap()
    const current = only(await t.claim(await t.worker({ kinds }), { kinds }))
    const item = { ...aStep(stale, 'a'), versionedKind: inVersion(3) }
    assert.deepEqual(await t.store.steps.record([item]), [false])
    await t.jobIs(current.id, { minVersion: null })
  }),
  test('P14 P18 a parked job keeps its version when its event arrives', async (t) => {
    const lease = await t.running({ kind: KIND })
    await t.store.steps.wait([{ ...aWait(lease, 'paid', { events: ['paid'] }), versionedKind: inVersion(3) }])
    await t.finish(lease, PARKED)
    const event = { ...anEvent(lease.id, 'paid'), kind: KIND }
    assert.equal(only(await t.store.steps.send([event])).isStored, true)
    await t.store.stage(10)
    await needsVersion3(t, lease)
  }),
  test('P14 a job that is retried or rewound keeps its version, with and without an order key', async (t) => {
    for (const orderKey of [undefined, 'a']) {
      const lease = await t.running({ kind: KIND, ...(orderKey !== undefined && { orderKey }) })
      await t.store.steps.record([{ ...aStep(lease, 'a'), versionedKind: inVersion(3) }])
      await t.finish(lease, DEAD)
      await t.store.retry([lease.id])
      await t.store.stage(10)
      const next = await needsVersion3(t, lease)
      await t.finish(next, DONE)
      await t.store.steps.rewind(lease.id, 0)
      await t.store.stage(10)
      await t.finish(await needsVersion3(t, lease), DONE)
    }
  }),
  test('P14 a fork under the versioned kind needs this version, too', async (t) => {
    const lease = await t.running({ kind: KIND })
    await t.store.steps.record([{ ...aStep(lease, 'a'), versionedKind: inVersion(3) }])
    await t.finish(lease, DONE)
    const copy = { ...aJob(), kind: inVersion(3) }
    assert.equal(await t.store.steps.fork(lease.id, 1, copy), true)
    await needsVersion3(t, copy as unknown as Held)
  }),
  test(
    'P14 lists, counts of kinds without a worker, and onDead see the kind without its version',
    async (t) => {
      const kinds = [...kindsOfVersion(KIND, 3)]
      const instance = await t.worker({ kinds, onDead: [KIND], leaseMs: 1 })
      const lease = await t.running({ kind: KIND }, instance)
      await t.store.steps.record([{ ...aStep(lease, 'a'), versionedKind: inVersion(3) }])
      t.clock.advance(1)
      const { jobs } = await t.reap(1)
      assert.deepEqual(jobs, [{ id: lease.id, queue: lease.queue, kind: KIND, crashes: 1, state: 'dead' }])
      const { jobs: dead } = await t.store.list({ kind: KIND, state: 'dead' }, { limit: 10 })
      assert.deepEqual(
        dead.map(({ id, kind, minVersion }) => ({ id, kind, minVersion })),
        [{ id: lease.id, kind: KIND, minVersion: 3 }],
      )
      const { jobs: followUps } = await t.store.list({ kind: `${KIND}:dead` }, { limit: 10 })
      assert.equal(followUps.length, 1)
      // No kind has this name.
      const { jobs: none } = await t.store.list({ kind: inVersion(3) }, { limit: 10 })
      assert.deepEqual(none, [])
      await t.store.retry([lease.id])
      await t.worker({ kinds: kindsOfVersion(KIND, 2), queues: [lease.queue] })
      const waiting = await t.store.inspect.unservedKinds()
      assert.deepEqual(
        waiting.filter(({ kind }) => kind === KIND),
        [{ queue: lease.queue, kind: KIND, minVersion: 3, jobs: 1 }],
      )
      await t.worker({ kinds, queues: [lease.queue] })
      assert.deepEqual(
        (await t.store.inspect.unservedKinds()).filter(({ kind }) => kind === KIND),
        [],
      )
    },
    'inspect',
  ),
]
