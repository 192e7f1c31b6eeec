/** A claim reads its queues first and locks jobs afterwards: a change of a queue in between counts. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, aJob, anInstance } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const me = anInstance({ leaseMs: 3_600_000 })

/**
 * The result of a claim from two queues while one is changed, after the claim has read both and before it has
 * read a job.
 */
async function claimedWhile(change: string): Promise<readonly Lease[]> {
  const schema = freshSchema(url, 'closed')
  const store = postgres(url, { schema, notifier: false })
  onTestFinished(() => store.close())
  await store.open()
  await store.instances.register(me)
  await store.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
  await store.enqueue([aJob({ queue: 'mail' }), aJob({ queue: 'other' })])

  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; LOCK TABLE ${schema}.ready IN ACCESS EXCLUSIVE MODE`)
  const claiming = store.claim(
    aClaim(me.id, {
      queues: [
        { queue: 'mail', room: 5 },
        { queue: 'other', room: 5 },
      ],
    }),
  )
  const waits = `SELECT FROM pg_locks WHERE relation = '${schema}.ready'::regclass AND NOT granted`
  while ((await client.query(waits)).rowCount === 0);
  await client.query(`UPDATE ${schema}.queue SET ${change} WHERE name = 'mail'; COMMIT`)
  return claiming
}

describe('postgres: a queue that closes during a claim', () => {
  test('P13 a claim takes no job from a queue that now cools down, is paused or has a limit, and takes those of other queues', async () => {
    for (const change of [`cool_until = ${Date.now() + 60_000}`, 'paused = true', `limit_name = 'few'`])
      expect((await claimedWhile(change)).map(({ queue }) => queue)).toEqual(['other'])
  })

  test('a change that does not close the queue withholds no job', async () => {
    expect((await claimedWhile('cool_until = 1')).map(({ queue }) => queue).toSorted()).toEqual([
      'mail',
      'other',
    ])
  })
})
