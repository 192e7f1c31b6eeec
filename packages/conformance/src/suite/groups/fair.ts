/** P20: in a fair queue, groups take turns. */
import assert from 'node:assert/strict'
import { rooms, someJobs } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'

const QUEUE = 'tenants'
const FAIR = { groupFair: true } as const

/** Registers a worker of the queue, which is fair. */
async function fairWorker(t: Bench): Promise<string> {
  await t.store.queues.declare([{ name: QUEUE, settings: FAIR }])
  return t.worker({ queues: [QUEUE] })
}

/** Enqueues this many jobs of each group, one group after the other. */
async function enqueueAll(t: Bench, counts: Readonly<Record<string, number>>): Promise<void> {
  const requests = Object.entries(counts).flatMap(([group, jobs]) =>
    Array.from({ length: jobs }, () => ({ queue: QUEUE, ...(group !== '' && { group }) })),
  )
  await t.store.enqueue(someJobs(requests))
}

/** The groups of the jobs of a claim. */
async function claimed(t: Bench, worker: string, room: number): Promise<string[]> {
  const leases = await t.claim(worker, { queues: rooms({ [QUEUE]: room }), limit: room })
  return leases.map(({ group }) => group ?? '')
}

/** How many jobs of each group so many claims get. */
async function shares(t: Bench, worker: string, claims: number, room: number) {
  const found: Record<string, number> = {}
  for (let n = 0; n < claims; n += 1)
    for (const group of await claimed(t, worker, room)) found[group] = (found[group] ?? 0) + 1
  return found
}

export const fairCases: readonly Case[] = [
  test('P20 groups get equal numbers of jobs, whatever their backlogs', async (t) => {
    const worker = await fairWorker(t)
    await enqueueAll(t, { flood: 200, small: 12, other: 40 })
    assert.deepEqual(await shares(t, worker, 36, 1), { flood: 12, small: 12, other: 12 })
    assert.deepEqual(await shares(t, worker, 8, 7), { flood: 28, other: 28 })
    assert.deepEqual(await shares(t, worker, 2, 500), { flood: 160 })
  }),
  test('P20 the first job of a new group is in the next claim', async (t) => {
    const worker = await fairWorker(t)
    await enqueueAll(t, { flood: 300 })
    await claimed(t, worker, 50)
    await enqueueAll(t, { late: 1 })
    assert.ok((await claimed(t, worker, 2)).includes('late'))
  }),
  test('P20 two processes serve the same groups fairly', async (t) => {
    const [first, second] = [await fairWorker(t), await t.worker({ queues: [QUEUE] })]
    const other = await t.another()
    await enqueueAll(t, { a: 60, b: 60 })
    const found: Record<string, number> = { a: 0, b: 0 }
    for (let n = 0; n < 10; n += 1)
      for (const [store, instance] of [
        [t.store, first],
        [other, second],
      ] as const)
        for (const { group } of await store.claim({
          instance,
          queues: rooms({ [QUEUE]: 2 }),
          kinds: ['work'],
          limit: 2,
          quarantined: 'skip',
        }))
          found[group ?? ''] = (found[group ?? ''] ?? 0) + 1
    assert.deepEqual(found, { a: 20, b: 20 })
  }),
  test('a group runs its jobs in the order in which they became ready', async (t) => {
    const worker = await fairWorker(t)
    const jobs = someJobs(
      Array.from({ length: 30 }, (_, n) => ({ queue: QUEUE, group: n % 2 === 0 ? 'a' : 'b', payload: n })),
    )
    await t.store.enqueue(jobs)
    const taken: number[] = []
    for (let n = 0; n < 10; n += 1) {
      const leases = await t.claim(worker, { queues: rooms({ [QUEUE]: 3 }) })
      taken.push(...leases.map(({ payload }) => Number(payload)))
    }
    const ofA = taken.filter((n) => n % 2 === 0)
    assert.equal(ofA.length, 15)
    assert.deepEqual(
      ofA,
      ofA.toSorted((a, b) => a - b),
    )
  }),
  test('P20 a group with a weight of 3 gets three jobs for each of another', async (t) => {
    const worker = await fairWorker(t)
    await t.store.groups.change(QUEUE, 'big', { weight: 3 })
    await enqueueAll(t, { big: 100, small: 100 })
    assert.deepEqual(await shares(t, worker, 40, 1), { big: 30, small: 10 })
    assert.deepEqual(await shares(t, worker, 2, 40), { big: 60, small: 20 })
  }),
  test('P20 a group with a weight of 0.5 gets one job for two of another', async (t) => {
    const worker = await fairWorker(t)
    await t.store.groups.change(QUEUE, 'half', { weight: 0.5 })
    await enqueueAll(t, { half: 50, full: 50 })
    assert.deepEqual(await shares(t, worker, 30, 1), { half: 10, full: 20 })
  }),
  test('jobs without a group share one turn', async (t) => {
    const worker = await fairWorker(t)
    await enqueueAll(t, { '': 40, a: 40, b: 40 })
    assert.deepEqual(await shares(t, worker, 30, 1), { '': 10, a: 10, b: 10 })
  }),
  test('the best priority comes first, over all groups', async (t) => {
    const worker = await fairWorker(t)
    await enqueueAll(t, { a: 5, b: 5 })
    await t.store.enqueue(
      someJobs([
        { queue: QUEUE, group: 'b', priority: -1 },
        { queue: QUEUE, group: 'b', priority: -1 },
      ]),
    )
    assert.deepEqual(await claimed(t, worker, 2), ['b', 'b'])
    assert.equal((await claimed(t, worker, 500)).length, 10)
  }),
  test('a claim that is too small for all queues serves fair ones and others', async (t) => {
    await fairWorker(t)
    const worker = await t.worker({ queues: [QUEUE, 'plain'] })
    await enqueueAll(t, { a: 50, b: 50 })
    await t.store.enqueue(someJobs(Array.from({ length: 100 }, () => ({ queue: 'plain' }))))
    const found: Record<string, number> = {}
    for (let n = 0; n < 20; n += 1)
      for (const { queue } of await t.claim(worker, {
        queues: rooms({ [QUEUE]: 4, plain: 4 }),
        limit: 4,
      }))
        found[queue] = (found[queue] ?? 0) + 1
    assert.deepEqual(found, { [QUEUE]: 40, plain: 40 })
  }),
  test('the position of a job counts the jobs of its group', async (t) => {
    await fairWorker(t)
    await enqueueAll(t, { flood: 20 })
    const jobs = someJobs(Array.from({ length: 3 }, () => ({ queue: QUEUE, group: 'small' })))
    await t.store.enqueue(jobs)
    assert.equal(await t.store.inspect.position(jobs[2]?.id ?? ''), 2)
    assert.equal(await t.store.inspect.position(jobs[0]?.id ?? '', ['work']), 0)
  }),
  test('a job that returns to its queue keeps its place in its group', async (t) => {
    const worker = await fairWorker(t)
    await enqueueAll(t, { a: 3, b: 1 })
    const [first] = await t.claim(worker, { queues: rooms({ [QUEUE]: 1 }), limit: 1 })
    assert.ok(first !== undefined)
    await t.finish(first, { to: 'ready' })
    const rest = await t.claim(worker, { queues: rooms({ [QUEUE]: 10 }) })
    assert.equal(rest.length, 4)
    assert.equal(rest.find(({ group }) => group === first.group)?.id, first.id)
  }),
  test('a retried job and a delayed one join the end of their group', async (t) => {
    const worker = await fairWorker(t)
    await t.store.enqueue(someJobs([{ queue: QUEUE, group: 'a', delay: 10, payload: 'late' }]))
    await enqueueAll(t, { a: 1 })
    const [first] = await t.claim(worker, { queues: rooms({ [QUEUE]: 1 }), limit: 1 })
    assert.ok(first !== undefined)
    await t.finish(first, { to: 'scheduled', delayMs: 5, refund: false })
    await enqueueAll(t, { a: 1, b: 3 })
    t.clock.advance(10)
    assert.equal((await t.store.stage(10)).ready, 2)
    assert.deepEqual(await shares(t, worker, 6, 1), { a: 3, b: 3 })
  }),
]
