/**
 * P18: an event and the park of its job in transactions that overlap. Neither sees the other, and the stage
 * between the two commits sees only one of them.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aFinish, anInstance, only, someJobs } from '../../../conformance/src/factories.ts'
import { anEvent, aStep, aWait, PARKED, received } from '../../../conformance/src/suite/steps/step-helpers.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'events')
const store = postgres(url, { schema, notifier: false })

beforeAll(() => store.open())
afterAll(() => store.close())

/** A running job, alone in its queue, that has begun to wait for the event `e`. */
async function waitingJob(queue: string): Promise<Lease> {
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue] })
  await store.instances.register(me)
  await store.enqueue(someJobs([{ queue }]))
  const lease = only(await store.claim(aClaim(me.id, { queues: [{ queue, room: 1 }] })))
  const waited = await store.steps.wait([aWait(lease, 'e', { events: ['e'] })])
  expect(waited).toMatchObject([{ accepted: true, isDone: false }])
  return lease
}

async function openTransaction(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  return client
}

const park = (to: FullStore, lease: Lease, tx?: pg.Client) => to.finish([aFinish(lease, PARKED)], { tx })
const stateOf = async ({ id }: Lease) => (await store.get([id]))[0]?.state
const stages = async (times: number): Promise<void> => {
  for (let n = 0; n < times; n += 1) await store.stage(100)
}

/** A new attempt of the job receives the event. */
async function receives(lease: Lease, queue: string): Promise<void> {
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue] })
  await store.instances.register(me)
  const next = only(await store.claim(aClaim(me.id, { queues: [{ queue, room: 1 }] })))
  expect(next).toMatchObject({ id: lease.id, hasSteps: true })
  expect(await store.steps.wait([aWait(next, 'e', { events: ['e'] })])).toEqual([received('e')])
}

test('P18 an event that commits after the park, with a stage in between, makes the job ready', async () => {
  const lease = await waitingJob('later')
  const sender = await openTransaction()
  await store.steps.send([anEvent(lease.id, 'e')], { tx: sender })
  await park(store, lease)
  await stages(2)
  expect(await stateOf(lease)).toBe('scheduled')
  await sender.query('COMMIT')
  await stages(1)
  expect(await stateOf(lease)).toBe('ready')
  await receives(lease, 'later')
})

test('P18 a job that was ready when an open transaction sent its event receives it after the park', async () => {
  const queue = 'early'
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue] })
  await store.instances.register(me)
  const job = only(someJobs([{ queue }]))
  await store.enqueue([job])
  const sender = await openTransaction()
  await store.steps.send([anEvent(job.id, 'e')], { tx: sender })
  const lease = only(await store.claim(aClaim(me.id, { queues: [{ queue, room: 1 }] })))
  expect(await store.steps.wait([aWait(lease, 'e', { events: ['e'] })])).toMatchObject([{ isDone: false }])
  await park(store, lease)
  await stages(2)
  await sender.query('COMMIT')
  await stages(1)
  await receives(lease, queue)
})

test('P18 a park that commits after the event, with a stage in between, makes the job ready', async () => {
  const lease = await waitingJob('parks')
  const parking = await openTransaction()
  await park(store, lease, parking)
  await store.steps.send([anEvent(lease.id, 'e')])
  await stages(2)
  expect(await stateOf(lease)).toBe('running')
  await parking.query('COMMIT')
  await stages(1)
  expect(await stateOf(lease)).toBe('ready')
  await receives(lease, 'parks')
})

test('P18 a call that is sent twice at once takes one event, and both get it', async () => {
  const lease = await waitingJob('twice')
  await store.steps.send([anEvent(lease.id, 'e'), anEvent(lease.id, 'e', '2')])
  const wait = () => store.steps.wait([aWait(lease, 'e', { events: ['e'] })])
  const [first, second] = await Promise.all([wait(), wait()])
  expect(first).toEqual(second)
  const [left] = await store.steps.wait([aWait(lease, 'next', { events: ['e'], place: 1 })])
  expect(left?.isDone).toBe(true)
  expect(left?.result).not.toBe(first[0]?.result)
})

test('P2 P17 a step is not recorded while a reap takes its job back, and the reap waits for no transaction', async () => {
  const lease = await waitingJob('reaped')
  const tx = await openTransaction()
  expect(await store.steps.record([aStep(lease, 'booked', { kind: 'transaction' })], { tx })).toEqual([true])
  // An instance that ends skips what an open transaction holds, and takes it back later.
  const [instance] = (await store.get([lease.id])).map((job) => job?.instance)
  await store.instances.deregister(instance ?? '')
  await tx.query('COMMIT')
  const [memos] = await store.steps.read([lease.id])
  expect(memos?.map(({ name, isDone }) => [name, isDone])).toEqual([
    ['e', false],
    ['booked', true],
  ])
  await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
  expect(await store.steps.record([aStep(lease, 'late', { place: 2 })])).toEqual([false])
})

test('P3 an event that commits after its job was deleted is deleted too', async () => {
  const job = only(someJobs([{ queue: 'gone' }]))
  await store.enqueue([job])
  const sender = await openTransaction()
  await store.steps.send([anEvent(job.id, 'e', '"personal data"')], { tx: sender })
  await store.cancel([job.id], 'not needed')
  await store.delete([job.id])
  await sender.query('COMMIT')
  await stages(2)
  const { rows } = await sender.query(`SELECT FROM ${schema}.job_event WHERE job_id = $1`, [job.id])
  expect(rows).toEqual([])
})

test('P18 jobs that an open transaction holds do not keep the events of others from being seen', async () => {
  const HELD = 1_000
  const queue = 'many'
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue] })
  await store.instances.register(me)
  await store.enqueue(someJobs(Array.from({ length: HELD + 1 }, () => ({ queue }))))
  const leases: Lease[] = []
  while (leases.length <= HELD)
    leases.push(...(await store.claim(aClaim(me.id, { queues: [{ queue, room: HELD + 1 }] }))))
  await store.steps.wait(leases.map((lease) => aWait(lease, 'e', { events: ['e'] })))
  await store.finish(leases.map((lease) => aFinish(lease, PARKED)))
  await stages(3)
  const [free, ...held] = leases.toReversed() as [Lease, ...Lease[]]
  const holder = await openTransaction()
  await holder.query(`SELECT FROM ${schema}.later WHERE id = ANY ($1::uuid[]) FOR UPDATE`, [
    held.map(({ id }) => id),
  ])
  await store.steps.send(held.map(({ id }) => anEvent(id, 'e')))
  await store.steps.send([anEvent(free.id, 'e')])
  await stages(20)
  expect(await stateOf(free)).toBe('ready')
  await holder.query('ROLLBACK')
  await stages(20)
  const states = new Set((await store.get(held.map(({ id }) => id))).map((job) => job?.state))
  expect([...states]).toEqual(['ready'])
})
