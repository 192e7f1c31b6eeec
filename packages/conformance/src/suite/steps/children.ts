/** P18: a parked job runs again once, after the last child of its step has ended. */
import assert from 'node:assert/strict'
import { CHILD_DELETED, type ChildRecord, type NewJob, PARENT_CANCELLED, type Waited } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, FORGET, HOUR, only, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'
import { aStep, aWait, type Held, PARKED, REFUSED, waiting } from './step-helpers.ts'

const CANCELLED = { to: 'cancelled' } as const

/** A kind of its own, so that a claim of children does not find the parent. */
const CHILD = 'child'
const OVER: Waited = { accepted: true, isDone: true, result: null, dueInMs: null }

const childJobs = (count: number): NewJob[] =>
  someJobs(Array.from({ length: count }, () => ({ kind: CHILD })))

const startOf = ({ id, token }: Held, jobs: readonly NewJob[], name = 'fan') => ({
  id,
  token,
  name,
  place: 0,
  jobs,
})

const waitForChildren = async (t: Bench, lease: Held, name = 'fan'): Promise<Waited> =>
  only(await t.store.steps.wait([aWait(lease, name, { forChildren: true })]))

/** A parent that is parked until its children have ended, and their leases. */
async function parkedWith(t: Bench, count: number): Promise<{ parent: HeldLease; children: HeldLease[] }> {
  const parent = await t.running()
  assert.deepEqual(await t.store.steps.start([startOf(parent, childJobs(count))]), [true])
  assert.deepEqual(await waitForChildren(t, parent), waiting(null))
  assert.equal((await t.finish(parent, PARKED)).state, 'scheduled')
  const children = await t.claim(await t.worker({ kinds: [CHILD] }), { kinds: [CHILD] })
  assert.equal(children.length, count)
  return { parent, children }
}

/** The ends of the children of a step, in their order. */
const endsOf = async (t: Bench, id: string, step = 'fan'): Promise<unknown[]> =>
  pluck(await t.store.steps.children(id, { step }), 'endedAs', 'result', 'error')

async function becomesReady(t: Bench, { id }: Held): Promise<void> {
  await t.store.stage(10)
  await t.jobIs(id, { state: 'ready' })
}

async function staysParked(t: Bench, { id }: Held): Promise<void> {
  await t.store.stage(10)
  await t.jobIs(id, { state: 'scheduled', dueAt: null })
}

export const childCases: readonly Case[] = [
  test('P18 the children of a step are enqueued once, with the step', async (t) => {
    const parent = await t.running()
    const jobs = childJobs(3)
    assert.deepEqual(await t.store.steps.start([startOf(parent, jobs)]), [true])
    // Sent again, and by another call with new jobs.
    assert.deepEqual(await t.store.steps.start([startOf(parent, jobs)]), [true])
    assert.deepEqual(await t.store.steps.start([startOf(parent, childJobs(3))]), [true])
    const children = await t.store.steps.children(parent.id, { step: 'fan' })
    assert.deepEqual(
      children,
      jobs.map(({ id }, place): ChildRecord => ({
        id,
        step: 'fan',
        place,
        endedAs: null,
        result: null,
        error: null,
      })),
    )
    for (const { id } of jobs) await t.jobIs(id, { state: 'ready', kind: CHILD })
    const parents = await t.store.steps.parents([...jobs.map(({ id }) => id), parent.id, aJob().id])
    const isChild = { id: parent.id, step: 'fan' }
    assert.deepEqual(parents, [isChild, isChild, isChild, null, null])
    const [step] = (await t.store.steps.list(parent.id)) ?? []
    assert.deepEqual([step?.name, step?.kind, step?.endedAt], ['fan', 'child', null])
    await t.countsAreExact()
  }),
  test('P2 P18 a stale token starts no children, and waits for none', async (t) => {
    const [stale, current] = await t.takenOver()
    const jobs = childJobs(1)
    assert.deepEqual(await t.store.steps.start([startOf(stale, jobs)]), [false])
    assert.deepEqual(await t.store.get(jobs.map(({ id }) => id)), [null])
    assert.deepEqual(await t.store.steps.start([startOf(current, jobs)]), [true])
    assert.deepEqual(await waitForChildren(t, stale), REFUSED)
  }),
  test('P18 a parent is woken by the last of its children, and reads their results in their order', async (t) => {
    const { parent, children } = await parkedWith(t, 3)
    for (const [at, child] of children.toReversed().entries()) {
      await staysParked(t, parent)
      assert.equal(child.isChild, true)
      await t.finish(child, { to: 'done', result: `${at}` })
    }
    await becomesReady(t, parent)
    assert.deepEqual(await endsOf(t, parent.id), [
      ['done', '2', null],
      ['done', '1', null],
      ['done', '0', null],
    ])
    const ends = [
      ...(await t.store.steps.children(parent.id, { step: 'fan', results: false })),
      ...(await t.store.steps.children(parent.id, { limit: 10 })),
    ]
    assert.equal(ends.length, 6)
    for (const { endedAs, result } of ends) assert.deepEqual([endedAs, result], ['done', null])
    const next = await t.claimAgain(parent)
    assert.deepEqual(await waitForChildren(t, next), OVER)
    // The step is open until its result is recorded.
    assert.equal((await t.store.steps.read([parent.id]))[0]?.[0]?.isDone, false)
    await t.store.steps.record([aStep(next, 'fan', { kind: 'child', result: '[2,1,0]' })])
    assert.equal((await t.store.steps.read([parent.id]))[0]?.[0]?.result, '[2,1,0]')
    await t.countsAreExact()
  }),
  test('P18 a wait whose children ended before it is over at once, and its park too', async (t) => {
    const parent = await t.running()
    await t.store.steps.start([startOf(parent, childJobs(1))])
    const child = await t.claimOne(await t.worker({ kinds: [CHILD] }), { kinds: [CHILD] })
    assert.deepEqual(await waitForChildren(t, parent), waiting(null))
    await t.finish(child, DONE)
    assert.deepEqual((await t.finish(parent, PARKED)).state, 'ready')
    assert.deepEqual(await waitForChildren(t, await t.claimAgain(parent)), OVER)
  }),
  test('P18 a child that is dead, cancelled, deleted or forgotten ends the wait, with its error', async (t) => {
    const { parent, children } = await parkedWith(t, 4)
    const [dead, cancelled, forgotten, deleted] = children as [HeldLease, HeldLease, HeldLease, HeldLease]
    await t.finish(dead, DEAD, { outcome: 'failed', error: 'boom' })
    await t.store.cancel([cancelled.id], 'not needed')
    await t.finish(cancelled, CANCELLED, { outcome: 'cancelled', error: 'not needed' })
    await t.finish(forgotten, { ...FORGET, result: '7' }, { error: 'too large' })
    await t.finish(
      deleted,
      { to: 'scheduled', delayMs: HOUR, refund: false },
      { outcome: 'failed', error: 'x' },
    )
    await staysParked(t, parent)
    await t.store.delete([deleted.id])
    await becomesReady(t, parent)
    assert.deepEqual(await endsOf(t, parent.id), [
      ['dead', null, 'boom'],
      ['cancelled', null, 'not needed'],
      ['done', '7', 'too large'],
      ['cancelled', null, CHILD_DELETED],
    ])
    const step = { id: parent.id, step: 'fan' }
    assert.deepEqual(await t.store.steps.parents([forgotten.id, deleted.id]), [step, step])
  }),
  test('P4 P18 children that crash too often end the wait of their parent', async (t) => {
    const { parent } = await parkedWith(t, 1)
    await t.crash(1)
    await t.store.stage(10)
    const [end] = await t.store.steps.children(parent.id, { step: 'fan' })
    assert.equal(end?.endedAs, 'dead')
    await t.jobIs(parent.id, { state: 'ready' })
  }),
  test('P18 a child that is retried is waited for again', async (t) => {
    const { parent, children } = await parkedWith(t, 1)
    const child = only(children)
    await t.finish(child, DEAD, { outcome: 'failed', error: 'boom' })
    await becomesReady(t, parent)
    await t.store.retry([child.id])
    assert.deepEqual(await endsOf(t, parent.id), [[null, null, null]])
    const next = await t.claimAgain(parent)
    assert.deepEqual(await waitForChildren(t, next), waiting(null))
    await t.finish(next, PARKED)
    await t.finish(await t.claimAgain(child), DONE)
    await becomesReady(t, parent)
  }),
  test('P18 a step whose children failed does not wake the parent from a later wait', async (t) => {
    const { parent, children } = await parkedWith(t, 1)
    await t.finish(only(children), DEAD, { outcome: 'failed', error: 'boom' })
    await becomesReady(t, parent)
    const next = await t.claimAgain(parent)
    assert.deepEqual(await waitForChildren(t, next), OVER)
    await t.store.steps.wait([aWait(next, 'nap', { place: 1, waitMs: HOUR })])
    assert.equal((await t.finish(next, PARKED)).state, 'scheduled')
    await t.store.stage(10)
    await t.jobIs(parent.id, { state: 'scheduled' })
  }),
  test('P8 P18 the children of a cancelled job are cancelled, and theirs', async (t) => {
    const { parent, children } = await parkedWith(t, 2)
    const [running, between] = children as [HeldLease, HeldLease]
    const grandchildren = childJobs(2)
    await t.store.steps.start([startOf(between, grandchildren)])
    await waitForChildren(t, between)
    await t.finish(between, PARKED)
    await t.store.cancel([parent.id], 'stop')
    for (let passes = 0; passes < 4; passes += 1) await t.store.stage(10)
    await t.jobIs(parent.id, { state: 'cancelled' })
    await t.jobIs(between.id, { state: 'cancelled', error: PARENT_CANCELLED })
    for (const { id } of grandchildren) await t.jobIs(id, { state: 'cancelled', error: PARENT_CANCELLED })
    await t.jobIs(running.id, { state: 'running', cancelReason: PARENT_CANCELLED })
    await t.countsAreExact()
  }),
  test('P8 a child that is retried after its parent was cancelled runs, whatever its siblings do', async (t) => {
    const { parent, children } = await parkedWith(t, 2)
    const [sibling, retried] = children as [HeldLease, HeldLease]
    await t.store.cancel([parent.id], 'stop')
    while ((await t.store.stage(10)).more) continue
    await t.finish(retried, CANCELLED, { outcome: 'cancelled', error: PARENT_CANCELLED })
    await t.store.retry([retried.id])
    await t.finish(sibling, CANCELLED, { outcome: 'cancelled', error: PARENT_CANCELLED })
    for (let passes = 0; passes < 2; passes += 1) await t.store.stage(10)
    await t.jobIs(retried.id, { state: 'ready' })
    await t.countsAreExact()
  }),
  test('P8 P18 the children of a running job are cancelled when its attempt ends as cancelled', async (t) => {
    const parent = await t.running()
    const jobs = childJobs(1)
    await t.store.steps.start([startOf(parent, jobs)])
    await t.store.cancel([parent.id], 'stop')
    await t.store.stage(10)
    await t.jobIs(only(jobs).id, { state: 'ready' })
    await t.finish(parent, CANCELLED, { outcome: 'cancelled', error: 'stop' })
    await t.store.stage(10)
    await t.jobIs(only(jobs).id, { state: 'cancelled' })
  }),
  test('P8 the children of a cancelled job are cancelled that its own instance runs when it ends', async (t) => {
    for (const end of ['crash', 'deregister'] as const) {
      const parent = await t.running()
      const jobs = childJobs(2)
      await t.store.steps.start([startOf(parent, jobs)])
      await t.claim(parent.instance, { kinds: [CHILD] })
      await t.store.cancel([parent.id], 'stop')
      if (end === 'crash') await t.crash(99)
      else await t.store.instances.deregister(parent.instance)
      await t.store.stage(10)
      await t.jobIs(parent.id, { state: 'cancelled' })
      for (const { id } of jobs) await t.jobIs(id, { state: 'cancelled', error: PARENT_CANCELLED })
      await t.countsAreExact()
    }
  }),
  test('P18 the children of a job that is done, dead or deleted continue', async (t) => {
    for (const transition of [DONE, DEAD, FORGET] as const) {
      const parent = await t.running()
      const jobs = childJobs(1)
      await t.store.steps.start([startOf(parent, jobs)])
      await t.finish(parent, transition)
      if (transition === DEAD) await t.store.delete([parent.id])
      await t.store.stage(10)
      const child = await t.claimOne(await t.worker({ kinds: [CHILD] }), { kinds: [CHILD] })
      assert.equal((await t.finish(child, DONE)).accepted, true)
      assert.deepEqual(await t.store.steps.parents([child.id]), [
        transition === DONE ? { id: parent.id, step: 'fan' } : null,
      ])
    }
  }),
  test('P18 several steps of a job wait for their own children', async (t) => {
    const parent = await t.running()
    const [left, right] = [childJobs(1), childJobs(1)]
    await t.store.steps.start([startOf(parent, left, 'left')])
    await t.store.steps.start([{ ...startOf(parent, right, 'right'), place: 1 }])
    await waitForChildren(t, parent, 'left')
    await waitForChildren(t, parent, 'right')
    await t.finish(parent, PARKED)
    const held = await t.claim(await t.worker({ kinds: [CHILD] }), { kinds: [CHILD] })
    const first = held.find(({ id }) => id === only(right).id)
    if (first !== undefined) await t.finish(first, DONE)
    await becomesReady(t, parent)
    const next = await t.claimAgain(parent)
    assert.deepEqual(await waitForChildren(t, next, 'left'), waiting(null))
    assert.deepEqual(await waitForChildren(t, next, 'right'), OVER)
    const all = await t.store.steps.children(parent.id, { limit: 1 })
    assert.deepEqual(pluck(all, 'step'), ['left'])
  }),
  test('P18 10,000 children are enqueued together', async (t) => {
    const parent = await t.running()
    await t.store.steps.start([startOf(parent, childJobs(10_000))])
    assert.equal((await t.store.steps.children(parent.id, { step: 'fan' })).length, 10_000)
  }),
  test('P18 the finish of the last child and the park of its parent in one call wake the parent', async (t) => {
    const parent = await t.running()
    await t.store.steps.start([startOf(parent, childJobs(1))])
    const child = await t.claimOne(await t.worker({ kinds: [CHILD] }), { kinds: [CHILD] })
    await waitForChildren(t, parent)
    const park = aFinish(parent, PARKED, { outcome: 'parked' })
    await t.store.finish([park, aFinish(child, DONE)])
    await becomesReady(t, parent)
  }),
]
