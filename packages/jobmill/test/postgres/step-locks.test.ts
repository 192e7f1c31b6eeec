/** Steps and waits of several jobs lock rows in one order, so they never wait for each other. */
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, anInstance, someJobs } from '../../../conformance/src/factories.ts'
import { aStep, aWait } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { untilWaiting } from './waiting-sessions.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'locks')
/** Two sessions that wait for each other then wait longer than the test. */
const patient = `${url}?options=${encodeURIComponent('-c deadlock_timeout=10min')}`
const store = postgres(patient, { schema, notifier: false })

beforeAll(() => store.open())
afterAll(() => store.close())

async function runningJobs(count: number): Promise<readonly Lease[]> {
  const queue = `q${Math.random()}`
  const me = anInstance({ leaseMs: 3_600_000, queues: [queue] })
  await store.instances.register(me)
  await store.enqueue(someJobs(Array.from({ length: count }, () => ({ queue }))))
  const leases = await store.claim(aClaim(me.id, { queues: [{ queue, room: count }] }))
  // Gives each job its own row, but no step.
  await store.progress(leases.map(({ id, token }) => ({ id, token, progress: '1' })))
  return leases
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const WAYS = [0, 1].flatMap((locked) =>
  ['asc', 'desc'].flatMap((order) => ['wait', 'record'].map((first) => [locked, order, first] as const)),
)

test.each(WAYS)(
  'P17 P18 first steps and waits of two jobs do not deadlock: job %i locked, waits %s, first %s',
  async (locked, order, first) => {
    const [blocker, watcher] = [await connect(), await connect()]
    const leases = (await runningJobs(2)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await blocker.query('BEGIN')
    await blocker.query(`SELECT FROM ${schema}.running WHERE id = $1 FOR NO KEY UPDATE`, [leases[locked]?.id])
    const inOrder = order === 'asc' ? leases : leases.toReversed()
    const calls = {
      record: () => store.steps.record(leases.map((lease) => aStep(lease, 's'))),
      wait: () => store.steps.wait(inOrder.map((lease) => aWait(lease, 'w', { events: ['e'], place: 1 }))),
    }
    const early = first === 'wait' ? calls.wait() : calls.record()
    await untilWaiting(watcher, schema, 1)
    const late = first === 'wait' ? calls.record() : calls.wait()
    await untilWaiting(watcher, schema, 2)
    await blocker.query('COMMIT')
    const replies = await Promise.all([early, late])
    expect(replies.flat()).toHaveLength(4)
  },
  20_000,
)
