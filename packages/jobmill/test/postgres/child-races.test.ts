/** Children and their parents in sessions that overlap: P18. */
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import { PARENT_CANCELLED } from '../../src/store/types/step.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, only, someJobs } from '../../../conformance/src/factories.ts'
import { aWait } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { untilWaiting } from './waiting-sessions.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'races')
/** Two sessions that wait for each other then wait longer than the test. */
const patient = `${url}?options=${encodeURIComponent('-c deadlock_timeout=10min')}`
const store: FullStore<Tx> = postgres(patient, { schema, notifier: false })
beforeAll(() => store.open())
afterAll(() => store.close())

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.query('ROLLBACK')
    await client.end()
  })
  return client
}

let queues = 0

/** The leases of new jobs, in a queue of their own. */
async function leased(kind: string): Promise<Lease> {
  queues += 1
  const queue = `q${queues}`
  await store.enqueue([aJob({ kind, queue })])
  return only(await claimed(kind, queue))
}

async function claimed(kind: string, queue: string): Promise<readonly Lease[]> {
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue], kinds: [kind] })
  await store.instances.register(me)
  return store.claim(aClaim(me.id, { kinds: [kind], queues: [{ queue, room: 100 }] }))
}

const finishOf = ({ id, token }: Lease, to: Finish['transition'], outcome: Finish['outcome']): Finish => ({
  id,
  token,
  outcome,
  transition: to,
})
const done = (lease: Lease): Finish => finishOf(lease, { to: 'done', result: '1' }, 'returned')

/** A parked parent, and the leases of its children. */
async function parkedWith(count: number, more = {}): Promise<{ parent: Lease; children: readonly Lease[] }> {
  const parent = await leased('parent')
  const queue = `${parent.queue}c`
  const jobs = someJobs(Array.from({ length: count }, () => ({ kind: 'child', queue, ...more })))
  await store.steps.start([{ id: parent.id, token: parent.token, name: 'fan', place: 0, jobs }])
  await store.steps.wait([aWait(parent, 'fan', { forChildren: true })])
  await store.finish([finishOf(parent, { to: 'parked' }, 'parked')])
  return { parent, children: await claimed('child', queue) }
}

const stateOf = async (id: string): Promise<string | undefined> => (await store.get([id]))[0]?.state

test('P8 P18 children that are enqueued while their parent is cancelled are cancelled too', async () => {
  const [blocker, watcher] = [await connect(), await connect()]
  const parent = await leased('parent')
  const child = aJob({ kind: 'child', queue: `${parent.queue}c` })
  await store.cancel([parent.id], 'stop')
  await blocker.query('BEGIN')
  await blocker.query(`INSERT INTO ${schema}.child (id, parent_id, step, place) VALUES ($1, $1, 'x', 0)`, [
    child.id,
  ])
  const { id, token } = parent
  const starting = store.steps.start([{ id, token, name: 'fan', place: 0, jobs: [child] }])
  await untilWaiting(watcher, schema, 1)
  const finishing = store.finish([finishOf(parent, { to: 'cancelled' }, 'cancelled')])
  await untilWaiting(watcher, schema, 2)
  await blocker.query('ROLLBACK')
  expect(await starting).toEqual([true])
  expect(await finishing).toMatchObject([{ state: 'cancelled' }])
  await store.stage(10)
  expect(await stateOf(child.id)).toBe('cancelled')
})

test('P8 P18 the children of a job that is cancelled and then deleted are cancelled', async () => {
  const { parent, children } = await parkedWith(1)
  const child = only(children)
  await store.cancel([parent.id], 'stop')
  await store.delete([parent.id])
  await store.stage(10)
  expect((await store.get([child.id]))[0]).toMatchObject({ cancelReason: PARENT_CANCELLED })
  await store.finish([finishOf(child, { to: 'cancelled' }, 'cancelled')])
  await store.stage(10)
  expect(await store.steps.parents([child.id])).toEqual([null])
})

test('an open transaction that completes a child of a cancelled job does not block stage', async () => {
  const tx = await connect()
  const { parent, children } = await parkedWith(2)
  const [first, second] = children as [Lease, Lease]
  const due = aJob({ queue: 'due', delay: 1 })
  await tx.query('BEGIN')
  await store.finish([done(first)], { tx })
  await store.cancel([parent.id], 'stop')
  await store.enqueue([due])
  await store.stage(10)
  expect((await store.get([second.id]))[0]).toMatchObject({ cancelReason: PARENT_CANCELLED })
  await tx.query('ROLLBACK')
  await store.stage(10)
  expect((await store.get([first.id]))[0]).toMatchObject({ cancelReason: PARENT_CANCELLED })
})

test('P18 two children that end in two open sessions wake their parent', async () => {
  const [one, two] = [await connect(), await connect()]
  const { parent, children } = await parkedWith(2)
  const [first, second] = children as [Lease, Lease]
  await one.query('BEGIN')
  await two.query('BEGIN')
  await store.finish([done(first)], { tx: one })
  await store.finish([done(second)], { tx: two })
  await store.stage(10)
  await one.query('COMMIT')
  await store.stage(10)
  expect(await stateOf(parent.id)).toBe('scheduled')
  await two.query('COMMIT')
  await store.stage(10)
  expect(await stateOf(parent.id)).toBe('ready')
})

test('P17 a rewind and the end of a child do not wait for each other', async () => {
  const [blocker, watcher] = [await connect(), await connect()]
  const { parent, children } = await parkedWith(1)
  const child = only(children)
  await store.cancel([parent.id], 'stop')
  await blocker.query('BEGIN')
  await blocker.query(`SELECT FROM ${schema}.running WHERE id = $1 FOR UPDATE`, [child.id])
  const finishing = store.finish([done(child)])
  await untilWaiting(watcher, schema, 1)
  const rewinding = store.steps.rewind(parent.id, 0)
  await untilWaiting(watcher, schema, 2)
  await blocker.query('COMMIT')
  expect(await finishing).toMatchObject([{ state: 'done' }])
  expect(await rewinding).toMatchObject({ verdict: 'changed', state: 'ready' })
})
