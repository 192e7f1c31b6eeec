/**
 * The states of single jobs when the tables of waiting jobs are small. The planner expects 100 jobs in a
 * call, and must not read a whole table for one. With 100,000 rows it uses the indexes on its own.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { anEvent } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { aJob, someJobs } from '../../../conformance/src/factories.ts'
import { expectIndexes as expectUse, type Explained, explaining } from './explaining.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'states')
const WAITING = 3_000
let store: Explained
let id: string

beforeAll(async () => {
  store = await explaining(url, schema)
  const jobs = someJobs(Array.from({ length: WAITING }, (_, n) => (n % 2 === 0 ? { delay: '1h' } : {})))
  await store.enqueue(jobs)
  const job = aJob({ delay: '1h' })
  id = job.id
  await store.enqueue([job])
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`VACUUM ANALYZE ${schema}.job, ${schema}.ready, ${schema}.later`)
  await client.end()
}, 60_000)
afterAll(() => store.close())

const WAITS = ['job', 'ready', 'later']
const expectLookups = (verb: () => Promise<unknown>): Promise<void> =>
  expectUse(store, WAITS, verb, ['ready_id_key', 'later_id_key'])

describe('postgres plans of the states of single jobs', () => {
  test('P15 an event reads only the rows of its job', async () => {
    await expectLookups(() => store.steps.send([anEvent(id, 'x')]))
  })

  test('P15 the results of a job are read by its id', async () => {
    await expectLookups(() => store.results([id]))
  })
})
