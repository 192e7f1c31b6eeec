/**
 * Claims while a cancel, a delete or a transaction of the user has taken some jobs and has not committed.
 * They skip these jobs, and a later claim finds each one that is still ready.
 */
import pg from 'pg'
import { beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { aJob } from '../../../conformance/src/factories.ts'
import { CLAIMS, ENDS, idsOf, openCalls } from './open-calls.ts'

const { store, slow, hold, enqueue, claim, finish, expectStates } = openCalls()

let tests = 0
let queue = ''
beforeEach(() => {
  tests += 1
  queue = `skip-${tests}`
})

async function openTransaction(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  return client
}

describe.each(CLAIMS)('postgres: a claim that writes %s', (_, size) => {
  describe.each(ENDS)('next to a call that %s', (how) => {
    const isCommitted = how === 'commits'

    test.each([
      ['P8', 'cancel', 'cancelled'],
      ['P3', 'delete', null],
    ] as const)('%s a %s keeps the jobs that it has taken', async (_number, verb, state) => {
      const ids = await enqueue(queue, size + 2)
      const targets = [ids[1] ?? '', ids[3] ?? '']
      const end = await hold(() => slow[verb](targets, 'why'))
      const leases = await claim(queue)
      expect(idsOf(leases)).toEqual(ids.filter((id) => !targets.includes(id)))
      const verdicts = targets.map((id) => ({ id, verdict: 'changed', state }))
      expect(await end(how)).toEqual(isCommitted ? verdicts : null)
      const others = await claim(queue)
      expect(idsOf(others)).toEqual(isCommitted ? [] : targets)
      await finish([...leases, ...others])
      await expectStates(
        queue,
        ids,
        ids.map((id) => (isCommitted && targets.includes(id) ? state : 'done')),
      )
    })

    test('P3 P10 P11 a transaction of the user enqueues one job, and replaces another', async () => {
      const replacing = (payload: string) =>
        aJob({ queue, payload, dedupe: { key: queue, onConflict: 'replace' } })
      const [keyed, fresh] = [replacing('old'), aJob({ queue })]
      await store.enqueue([keyed])
      const ids = await enqueue(queue, size)
      const tx = await openTransaction()
      expect(await store.enqueue([replacing('new'), fresh], { tx })).toEqual([
        { id: keyed.id, outcome: 'replaced' },
        { id: fresh.id, outcome: 'enqueued' },
      ])
      const leases = await claim(queue)
      expect(idsOf(leases)).toEqual(ids)
      await tx.query(isCommitted ? 'COMMIT' : 'ROLLBACK')
      const others = await claim(queue)
      expect(others.map(({ id, payload }) => [id, payload])).toEqual(
        isCommitted
          ? [
              [keyed.id, '"new"'],
              [fresh.id, 'null'],
            ]
          : [[keyed.id, '"old"']],
      )
      await finish([...leases, ...others])
      const all = [...ids, keyed.id, fresh.id]
      await expectStates(
        queue,
        all,
        all.map((id) => (id === fresh.id && !isCommitted ? null : 'done')),
      )
    })
  })
})
