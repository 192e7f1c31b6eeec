/** P17: a job that is rewound or forked keeps the steps before that step, and runs the others again. */
import assert from 'node:assert/strict'
import type { Verdict } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, HOUR, only, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'
import { aStep, aWait, doneSteps, received, send, waitForEvent, waiting } from './step-helpers.ts'

/** A done job with the steps a, b and c. */
async function done(t: Bench): Promise<HeldLease> {
  const lease = await t.running()
  const names = ['a', 'b', 'c']
  await t.store.steps.record(names.map((name, place) => aStep(lease, name, { place })))
  await t.finish(lease, { to: 'done', result: '"first"' })
  return lease
}

const verdict = (id: string, of: Verdict['verdict'], state: Verdict['state']): Verdict => ({
  id,
  verdict: of,
  state,
})

export const rewindCases: readonly Case[] = [
  test('P17 a job that is rewound keeps the steps before that place, and runs again', async (t) => {
    const lease = await done(t)
    assert.deepEqual(await t.store.steps.rewind(lease.id, 1), verdict(lease.id, 'changed', 'ready'))
    assert.deepEqual(await doneSteps(t, lease.id), ['a'])
    await t.jobIs(lease.id, { state: 'ready', attempt: 0, result: null, endedAt: null })
    await t.countsAreExact()
    const next = await t.claimAgain(lease)
    assert.equal(next.hasSteps, true)
    await t.finish(next, { to: 'done', result: '"second"' })
    await t.jobIs(lease.id, { state: 'done', result: '"second"' })
    await t.historyIs(lease.id, [
      ['returned', null],
      ['returned', null],
    ])
  }),
  test('P17 dead and cancelled jobs can be rewound, and others are refused', async (t) => {
    for (const state of ['dead', 'cancelled', 'done'] as const) {
      const id = await t.jobIn(state)
      assert.deepEqual(await t.store.steps.rewind(id, 0), verdict(id, 'changed', 'ready'))
      await t.jobIs(id, { state: 'ready' })
    }
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const id = await t.jobIn(state)
      assert.deepEqual(
        await t.changesNothing(() => t.store.steps.rewind(id, 0)),
        verdict(id, 'refused', state),
      )
    }
    const unknown = aJob().id
    assert.deepEqual(await t.store.steps.rewind(unknown, 0), verdict(unknown, 'unknown', null))
    await t.countsAreExact()
  }),
  test('P10 a rewind is refused while another job holds the dedupe key', async (t) => {
    const lease = await t.running({ dedupe: { key: 'k' } })
    await t.finish(lease, DONE)
    const holder = await t.enqueue({ dedupe: { key: 'k' } })
    assert.deepEqual(await t.store.steps.rewind(lease.id, 0), {
      ...verdict(lease.id, 'refused', 'done'),
      holder,
    })
    await t.jobIs(lease.id, { state: 'done' })
  }),
  test('P18 an event that a removed step took is received again', async (t) => {
    const lease = await t.running()
    await send(t, lease.id, 'e', '1')
    assert.deepEqual(await waitForEvent(t, lease, 'e'), received('e', '1'))
    await t.finish(lease, DEAD)
    await t.store.steps.rewind(lease.id, 0)
    const next = await t.claimAgain(lease)
    assert.deepEqual(await waitForEvent(t, next, 'e'), received('e', '1'))
  }),
  test('P18 the children of removed steps are cancelled, and new ones are enqueued', async (t) => {
    const lease = await t.running()
    const [kept, removed] = [aJob({ kind: 'kept' }), aJob({ kind: 'removed' })]
    const start = (held: HeldLease, name: string, place: number, jobs = someJobs([{ kind: name }])) =>
      t.store.steps.start([{ id: held.id, token: held.token, name, place, jobs }])
    await start(lease, 'kept', 0, [kept])
    await start(lease, 'removed', 1, [removed])
    await t.finish(lease, DEAD)
    await t.store.steps.rewind(lease.id, 1)
    await t.jobIs(kept.id, { state: 'ready' })
    await t.jobIs(removed.id, { state: 'cancelled' })
    assert.deepEqual(await t.store.steps.parents([kept.id, removed.id]), [
      { id: lease.id, step: 'kept' },
      null,
    ])
    const next = await t.claimAgain(lease)
    await start(next, 'removed', 1)
    const [child] = await t.store.steps.children(lease.id, { step: 'removed' })
    assert.notEqual(child?.id, removed.id)
    assert.equal(child?.endedAs, null)
  }),
  test('P17 a fork is a new job with the recorded steps before that place', async (t) => {
    const lease = await t.running()
    const steps = [
      aStep(lease, 'a'),
      aStep(lease, 'open', { place: 1, isDone: false }),
      aStep(lease, 'b', { place: 3 }),
    ]
    await t.store.steps.record([...steps, aStep(lease, 'c', { place: 4 })])
    await t.store.steps.wait([aWait(lease, 'nap', { place: 2, waitMs: HOUR })])
    const early = aJob({ kind: 'forked' })
    assert.equal(await t.store.steps.fork(lease.id, 4, early), true)
    assert.deepEqual(await doneSteps(t, early.id), ['a', 'b'])
    t.clock.advance(HOUR)
    const job = aJob({ kind: 'forked', payload: { n: 2 } })
    assert.equal(await t.store.steps.fork(lease.id, 4, job), true)
    // Sent again.
    assert.equal(await t.store.steps.fork(lease.id, 4, job), true)
    assert.deepEqual(await doneSteps(t, job.id), ['a', 'nap', 'b'])
    await t.jobIs(lease.id, { state: 'running' })
    const leases = await t.claim(await t.worker({ kinds: ['forked'] }), { kinds: ['forked'] })
    assert.deepEqual(pluck(leases, 'id', 'hasSteps'), [
      [early.id, true],
      [job.id, true],
    ])
    for (const forked of leases) await t.finish(forked, DONE)
    await t.countsAreExact()
  }),
  test('a fork of an unknown job enqueues nothing, and one without steps is a plain job', async (t) => {
    const [job, plain] = someJobs([{ kind: 'forked' }, { kind: 'forked', delay: HOUR }])
    if (job === undefined || plain === undefined) return assert.fail()
    assert.equal(await t.store.steps.fork(aJob().id, 1, job), false)
    assert.deepEqual(await t.store.get([job.id]), [null])
    const lease = await done(t)
    assert.equal(await t.store.steps.fork(lease.id, 0, plain), true)
    await t.jobIs(plain.id, { state: 'scheduled' })
    assert.deepEqual(await doneSteps(t, plain.id), [])
    const delayed = aJob({ kind: 'forked', delay: HOUR, orderKey: 'o' })
    await t.store.steps.fork(lease.id, 2, delayed)
    assert.deepEqual(await doneSteps(t, delayed.id), ['a', 'b'])
    t.clock.advance(HOUR)
    await t.store.stage(10)
    await t.store.stage(10)
    const leases = await t.claim(await t.worker({ kinds: ['forked'] }), { kinds: ['forked'] })
    assert.deepEqual(
      leases.map(({ id, hasSteps }) => [id, hasSteps]),
      [
        [plain.id, undefined],
        [delayed.id, true],
      ],
    )
  }),
  test('P11 P17 a job that is rewound to its first step has no steps, until it records one again', async (t) => {
    const replacing = { dedupe: { key: 'k', onConflict: 'replace' } } as const
    const lease = await t.running(replacing)
    await t.store.steps.record([aStep(lease, 'a'), aStep(lease, 'b', { place: 1 })])
    await t.finish(lease, DEAD)
    await t.store.steps.rewind(lease.id, 1)
    const [kept] = await t.store.enqueue([aJob({ ...replacing, kind: lease.kind })])
    assert.equal(kept?.outcome, 'duplicate')
    await t.finish(await t.claimAgain(lease), DEAD)
    await t.store.steps.rewind(lease.id, 0)
    const [replaced] = await t.store.enqueue([aJob({ ...replacing, kind: lease.kind })])
    assert.equal(replaced?.outcome, 'replaced')
    const next = await t.claimAgain(lease)
    assert.equal(next.hasSteps, undefined)
    await t.store.steps.record([aStep(next, 'a')])
    await t.finish(next, DEAD)
    await t.store.retry([lease.id])
    assert.equal((await t.claimAgain(lease)).hasSteps, true)
  }),
  test('a wait is open again in a job that is rewound to it', async (t) => {
    const lease = await t.running()
    await t.store.steps.wait([aWait(lease, 'nap', { waitMs: HOUR })])
    t.clock.advance(HOUR)
    await t.store.finish([aFinish(lease, DONE)])
    await t.store.steps.rewind(lease.id, 0)
    const next = await t.claimAgain(lease)
    assert.deepEqual(only(await t.store.steps.wait([aWait(next, 'nap', { waitMs: HOUR })])), waiting(HOUR))
  }),
]
