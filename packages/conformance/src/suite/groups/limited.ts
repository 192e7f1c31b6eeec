/** P20: a group never runs more jobs than its limits allow. */
import assert from 'node:assert/strict'
import type { GroupPatch, JobRequest, QueueSettings } from 'jobmill/store'
import { aDirectDispatch, aJob, DONE, HOUR, only, rooms, someJobs } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, rejectsWith } from '../looks.ts'

const QUEUE = 'tenants'

async function limitedWorker(t: Bench, settings: Partial<QueueSettings>): Promise<string> {
  await t.store.queues.declare([{ name: QUEUE, settings }])
  return t.worker({ queues: [QUEUE], leaseMs: HOUR })
}

async function enqueueMany(t: Bench, group: string, count: number, more: Partial<JobRequest> = {}) {
  const jobs = someJobs(Array.from({ length: count }, () => ({ queue: QUEUE, group, ...more })))
  await t.store.enqueue(jobs)
  return jobs.map(({ id }) => id)
}

/** Stages, then claims all jobs that are ready. */
async function started(t: Bench, worker: string) {
  await t.store.stage(500)
  return t.claim(worker, { queues: rooms({ [QUEUE]: 500 }) })
}

const change = (t: Bench, group: string, patch: GroupPatch) =>
  t.store.groups.change(QUEUE, group, patch, 'ada')

async function look(t: Bench, group: string) {
  return only(await t.store.groups.list(QUEUE, { limit: 1, names: [group] }))
}

export const limitedCases: readonly Case[] = [
  test('P20 a group runs as many jobs as its concurrency, and the next ones in order', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 2 })
    const [a, b, c, d] = await enqueueMany(t, 'acme', 4)
    await enqueueMany(t, 'other', 1)
    await t.jobIs(a ?? '', { state: 'scheduled', waitsForGroup: true, waitsForOrder: false })
    const first = await started(t, worker)
    assert.deepEqual(new Set(first.map(({ group }) => group)), new Set(['acme', 'other']))
    assert.deepEqual(
      first.filter(({ group }) => group === 'acme').map(({ id }) => id),
      [a, b],
    )
    assert.deepEqual(await started(t, worker), [])
    await t.jobIs(c ?? '', { state: 'scheduled', waitsForGroup: true })
    const [lease] = first
    assert.ok(lease !== undefined)
    await t.finish(lease, DONE)
    assert.deepEqual(
      (await started(t, worker)).map(({ id }) => id),
      [c],
    )
    hasFields(await look(t, 'acme'), { waiting: 1, running: 2, concurrency: 2 })
    await t.jobIs(d ?? '', { waitsForGroup: true })
  }),
  test('P20 every way to stop running frees the slot', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    const ends = [
      { to: 'done', result: null },
      { to: 'done', result: null, forget: true },
      { to: 'dead' },
      { to: 'cancelled' },
      { to: 'scheduled', delayMs: 3_600_000, refund: false },
    ] as const
    for (const end of ends) {
      await enqueueMany(t, 'acme', 1)
      const lease = only(await started(t, worker))
      await t.finish(lease, end)
    }
    await enqueueMany(t, 'acme', 1)
    assert.equal((await started(t, worker)).length, 1)
  }),
  test('P20 a ready job that is cancelled or deleted frees the slot', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    const [a, b, c] = await enqueueMany(t, 'acme', 3)
    await t.store.stage(10)
    await t.store.cancel([a ?? ''], 'no')
    await t.store.stage(10)
    await t.jobIs(b ?? '', { state: 'ready' })
    await t.store.delete([b ?? ''])
    assert.deepEqual(
      (await started(t, worker)).map(({ id }) => id),
      [c],
    )
  }),
  test('a job that waits for its group can be cancelled, deleted and listed', async (t) => {
    await limitedWorker(t, { groupConcurrency: 1 })
    const [a, b, c] = await enqueueMany(t, 'acme', 3)
    await t.store.stage(10)
    assert.equal((await t.store.list({ state: 'scheduled', group: 'acme' }, { limit: 10 })).jobs.length, 2)
    assert.equal(only(await t.store.cancel([b ?? ''], 'no')).verdict, 'changed')
    assert.equal(only(await t.store.delete([c ?? ''])).verdict, 'changed')
    assert.equal(only(await t.store.runNow([a ?? ''])).verdict, 'unchanged')
    hasFields(await look(t, 'acme'), { waiting: 1, running: 0 })
  }),
  test('P20 a job keeps its slot while it is released, and while its instance is lost', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    const [a, b] = await enqueueMany(t, 'acme', 2)
    const lease = only(await started(t, worker))
    await t.finish(lease, { to: 'ready' })
    assert.deepEqual(
      (await started(t, worker)).map(({ id }) => id),
      [a],
    )
    await t.crash()
    const other = await t.worker({ queues: [QUEUE] })
    assert.deepEqual(
      (await started(t, other)).map(({ id }) => id),
      [a],
    )
    await t.jobIs(b ?? '', { waitsForGroup: true })
  }),
  test('a retry waits for its group behind the others, and keeps its attempts', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    const [a, b] = await enqueueMany(t, 'acme', 2)
    await t.finish(
      only(await started(t, worker)),
      { to: 'scheduled', delayMs: 5, refund: false },
      { outcome: 'failed' },
    )
    t.clock.advance(5)
    const next = only(await started(t, worker))
    assert.equal(next.id, b)
    await t.jobIs(a ?? '', { state: 'scheduled', waitsForGroup: true, attempt: 1 })
    await t.finish(next, DONE)
    hasFields(only(await started(t, worker)), { id: a, attempt: 2 })
  }),
  test('P20 a rate starts so many jobs of a group per period', async (t) => {
    const worker = await limitedWorker(t, { groupRate: 3, groupRatePerMs: 3_000 })
    await enqueueMany(t, 'acme', 8)
    for (const lease of await started(t, worker)) await t.finish(lease, DONE)
    hasFields(await look(t, 'acme'), { waiting: 5, running: 0, nextTokenMs: 1_000 })
    await t.store.stage(10)
    assert.equal((await t.renew(worker, { queues: [QUEUE] })).stageInMs, 1_000)
    t.clock.advance(999)
    assert.deepEqual(await started(t, worker), [])
    t.clock.advance(1)
    assert.equal((await started(t, worker)).length, 1)
    t.clock.advance(60_000)
    assert.equal((await started(t, worker)).length, 3)
  }),
  test('P20 a job needs a token for each attempt', async (t) => {
    const worker = await limitedWorker(t, { groupRate: 1, groupRatePerMs: 1_000 })
    await enqueueMany(t, 'acme', 1)
    await t.finish(
      only(await started(t, worker)),
      { to: 'scheduled', delayMs: 1, refund: false },
      { outcome: 'failed' },
    )
    t.clock.advance(500)
    assert.deepEqual(await started(t, worker), [])
    t.clock.advance(500)
    assert.equal((await started(t, worker)).length, 1)
  }),
  test('an operator changes the limits of one group, and null resets them', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    await enqueueMany(t, 'acme', 5)
    hasFields(await change(t, 'acme', { concurrency: 3 }), { concurrency: 3, waiting: 5 })
    assert.equal((await started(t, worker)).length, 3)
    const { at, ...overrides } = (await look(t, 'acme')).overrides ?? {}
    assert.equal(at, t.clock.now())
    assert.deepEqual(overrides, {
      weight: null,
      concurrency: 3,
      rate: null,
      ratePerMs: null,
      paused: false,
      by: 'ada',
    })
    hasFields(await change(t, 'acme', { concurrency: null }), { concurrency: 1, overrides: null, running: 3 })
    assert.deepEqual(await started(t, worker), [])
  }),
  test('a paused group starts no job, and continues where it was', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 2 })
    const [a] = await enqueueMany(t, 'acme', 2)
    hasFields(await change(t, 'acme', { paused: true }), { paused: true })
    await enqueueMany(t, 'other', 1)
    assert.deepEqual(
      (await started(t, worker)).map(({ group }) => group),
      ['other'],
    )
    hasFields(await change(t, 'acme', { paused: false }), { paused: false, overrides: null })
    assert.equal((await started(t, worker))[0]?.id, a)
  }),
  test('in a fair queue, the ready jobs of a group that is paused wait, in their order', async (t) => {
    const worker = await limitedWorker(t, { groupFair: true })
    const ids = await enqueueMany(t, 'acme', 3)
    await enqueueMany(t, 'other', 1)
    await change(t, 'acme', { paused: true })
    await t.countsAre({ ready: 1, scheduled: 3 }, QUEUE)
    await enqueueMany(t, 'acme', 1)
    assert.deepEqual(
      (await started(t, worker)).map(({ group }) => group),
      ['other'],
    )
    hasFields(await look(t, 'acme'), { waiting: 4, paused: true, oldestMs: 0 })
    await change(t, 'acme', { paused: false })
    const leases = await started(t, worker)
    assert.deepEqual(
      leases.slice(0, 3).map(({ id }) => id),
      ids,
    )
    assert.equal(leases.length, 4)
  }),
  test('P12 a job with an order key waits for its key first, then for its group', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    const [a, b] = await enqueueMany(t, 'acme', 2, { orderKey: 'k' })
    const [c] = await enqueueMany(t, 'acme', 1)
    await t.jobIs(b ?? '', { waitsForOrder: true, waitsForGroup: false })
    await t.store.stage(10)
    await t.store.stage(10)
    const lease = only(await started(t, worker))
    await t.jobIs(b ?? '', { waitsForOrder: true, waitsForGroup: false })
    const waiting = lease.id === a ? c : a
    await t.jobIs(waiting ?? '', { waitsForOrder: false, waitsForGroup: true })
    await t.finish(lease, DONE)
    const next = only(await started(t, worker))
    assert.equal(next.id, waiting)
    await t.finish(next, DONE)
    await t.store.stage(10)
    assert.equal(only(await started(t, worker)).id, b)
  }),
  test('P2 a job whose group has limits is not directly dispatched', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 5 })
    const job = aJob({ queue: QUEUE, group: 'acme' })
    const directDispatch = aDirectDispatch(worker, { queues: rooms({ [QUEUE]: 5 }) })
    assert.deepEqual(await t.store.enqueue([job], { directDispatch }), [{ id: job.id, outcome: 'enqueued' }])
    await t.jobIs(job.id, { state: 'scheduled', waitsForGroup: true })
  }),
  test('jobs without a group are not limited', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    await t.store.enqueue(someJobs([{ queue: QUEUE }, { queue: QUEUE }]))
    assert.equal((await started(t, worker)).length, 2)
  }),
  test('jobs in the group when the queue loses its limits become ready', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1 })
    await enqueueMany(t, 'acme', 3)
    await t.store.stage(10)
    await t.setQueue(QUEUE, { groupConcurrency: null })
    assert.equal((await started(t, worker)).length, 3)
  }),
  test('P20 a retry waits for its group although the queue got its limits while the job ran', async (t) => {
    const worker = await limitedWorker(t, {})
    const [first] = await enqueueMany(t, 'acme', 1)
    const lease = only(await started(t, worker))
    await t.setQueue(QUEUE, { groupConcurrency: 1 })
    const [second] = await enqueueMany(t, 'acme', 1)
    assert.equal(only(await started(t, worker)).id, second)
    await t.finish(lease, { to: 'scheduled', delayMs: 5, refund: false }, { outcome: 'failed' })
    t.clock.advance(5)
    assert.deepEqual(await started(t, worker), [])
    await t.jobIs(first ?? '', { state: 'scheduled', waitsForGroup: true, attempt: 1 })
  }),
  test('the list has the groups with jobs or changes, most waiting jobs first', async (t) => {
    const worker = await limitedWorker(t, { groupConcurrency: 1, groupRate: 5, groupRatePerMs: 1_000 })
    await enqueueMany(t, 'few', 1)
    await enqueueMany(t, 'many', 4)
    await t.store.stage(10)
    await change(t, 'none', { weight: 2 })
    t.clock.advance(7)
    await started(t, worker)
    const found = await t.store.groups.list(QUEUE, { limit: 10 })
    assert.deepEqual(
      found.map(({ name, waiting, running, oldestMs, weight }) => [name, waiting, running, oldestMs, weight]),
      [
        ['many', 3, 1, 7, 1],
        ['few', 0, 1, null, 1],
        ['none', 0, 0, null, 2],
      ],
    )
    assert.equal((await t.store.groups.list(QUEUE, { limit: 1 })).length, 1)
    await rejectsWith('QUEUE_UNKNOWN', () => t.store.groups.list('nope', { limit: 1 }))
    await rejectsWith('QUEUE_UNKNOWN', () => t.store.groups.change('nope', 'a', { paused: true }))
  }),
]
