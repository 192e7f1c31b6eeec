/** The functions that do most writes: they also handle rare cases, and their short path loses nothing. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish, Transition } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const store: FullStore = postgres(url, { schema: freshSchema(url, 'fast'), notifier: false })
const me = anInstance({ leaseMs: 3_600_000 })

beforeAll(async () => {
  await store.open()
  await store.instances.register(me)
})
afterAll(() => store.close())

type Requests = Parameters<typeof someJobs>[0]

async function claimed(queue: string, requests: Requests): Promise<Lease[]> {
  await store.enqueue(someJobs(requests.map((request) => ({ ...request, queue }))))
  await store.stage(100)
  const leases = await store.claim(aClaim(me.id, { queues: [{ queue, room: 500 }] }))
  expect(leases).toHaveLength(requests.length)
  return leases
}

function plain(count: number): Requests {
  return Array.from({ length: count }, () => ({}))
}

function finish(
  { id, token }: Lease,
  transition: Transition = { to: 'done', result: '{"a": 1}' },
  outcome: Finish['outcome'] = 'returned',
): Finish {
  return { id, token, outcome, transition }
}

const countsOf = async (name: string): Promise<unknown> =>
  (await store.counts()).find(({ queue }) => queue === name)

describe('postgres: the fast path', () => {
  test('finishes many done jobs, and among them some with a dedupe key, an order key or another transition', async () => {
    const others = [{ dedupe: { key: 'k' } }, { orderKey: 'o' }, {}, {}]
    const leases = await claimed('mixed', [...plain(25), ...others])
    const items = leases.map((lease) => finish(lease))
    const retried = leases[3]
    const stale = leases[7]
    if (retried === undefined || stale === undefined) throw new Error('there are 29')
    items[3] = finish(retried, { to: 'scheduled', delayMs: 60_000, refund: false }, 'failed')
    items[7] = { ...finish(stale), token: stale.token + 1_000 }
    const replies = await store.finish(items)
    expect(replies.map(({ id }) => id)).toEqual(leases.map(({ id }) => id))
    expect(replies.map(({ state }) => state)).toEqual(
      leases.map((lease) => (lease === retried ? 'scheduled' : lease === stale ? null : 'done')),
    )
    expect(await countsOf('mixed')).toMatchObject({ done: 27, scheduled: 1, running: 1 })
    // The key and the order lock are free.
    const [next] = await store.enqueue([aJob({ queue: 'mixed', dedupe: { key: 'k' } })])
    expect(next?.outcome).toBe('enqueued')
    await store.enqueue([aJob({ queue: 'mixed', orderKey: 'o' })])
    expect(await store.stage(10)).toMatchObject({ ready: 1 })
  })

  test('finishes done jobs, some with a dedupe key, with one reply each in order, and marks a repeated call', async () => {
    const leases = await claimed('keyed', [...plain(30), { dedupe: { key: 'l' } }, ...plain(2)])
    const items = leases.map((lease) => finish(lease))
    const replies = leases.map(({ id }) => ({ id, accepted: true, state: 'done', followUps: [] }))
    expect(await store.finish(items)).toEqual(replies)
    expect(await store.finish(items)).toEqual(replies.map((one) => ({ ...one, again: true })))
    expect(await countsOf('keyed')).toMatchObject({ done: 33, running: 0 })
  })

  test('P2 the same job twice in a call: the first item counts', async () => {
    const leases = await claimed('twice', plain(25))
    const [first] = leases
    if (first === undefined) throw new Error('there are 25')
    const later = finish(first, { to: 'scheduled', delayMs: 60_000, refund: false }, 'failed')
    const replies = await store.finish([later, ...leases.map((lease) => finish(lease))])
    expect(replies.slice(0, 2).map(({ state }) => state)).toEqual(['scheduled', 'scheduled'])
    expect(await countsOf('twice')).toMatchObject({ done: 24, scheduled: 1 })
  })

  test('deletes some jobs and retains others in one call', async () => {
    const leases = await claimed('forgetting', plain(50))
    const items = leases.map((lease, at) => finish(lease, { to: 'done', result: null, forget: at % 2 === 0 }))
    expect((await store.finish(items)).every(({ accepted, state }) => accepted && state === 'done')).toBe(
      true,
    )
    expect((await store.get(leases.map(({ id }) => id))).filter((job) => job !== null)).toHaveLength(25)
    expect(await countsOf('forgetting')).toMatchObject({ done: 25, running: 0 })
  })

  test.each([false, true])('stores texts unchanged, with direct dispatch: %s', async (handsOff) => {
    const queue = handsOff ? 'texts-handed' : 'texts'
    const tags = ['a"b', String.raw`c\d`, '{x,y}', 'NULL', "it's", 'ü']
    const jobs = someJobs([
      { queue, payload: { text: 'a\u001Eb\n"\\ \u2028 €', deep: [[null, {}]] }, tags, timeout: '1m' },
      { queue, payload: null, metadata: { trace: 'a"b\\' } },
      { queue, payload: '' },
    ])
    const directDispatch = { instance: me.id, queues: [{ queue, room: 3 }], kinds: ['work'] }
    const replies = await store.enqueue(jobs, handsOff ? { directDispatch } : {})
    const leases = handsOff
      ? replies.flatMap(({ lease }) => lease ?? [])
      : await store.claim(aClaim(me.id, { queues: [{ queue, room: 3 }] }))
    const wanted = jobs.map(({ id, payload, metadata, timeoutMs, tags: of }) => {
      return { id, payload, metadata, timeoutMs, tags: of }
    })
    expect(leases).toMatchObject(wanted)
    expect(await store.get(jobs.map(({ id }) => id))).toMatchObject(wanted)
    expect((await store.list({ tags: ['a"b'], queue }, { limit: 5 })).jobs).toMatchObject([
      { id: jobs[0]?.id },
    ])
    const result = '{"b":"\\u001e", "a": [1.0]}'
    await store.finish(
      leases.map((lease, at) => finish(lease, { to: 'done', result: at === 1 ? null : result })),
    )
    const results = await store.results(jobs.map(({ id }) => id))
    expect(results.map((one) => one?.result)).toEqual([result, null, result])
  })

  // Found by a benchmark: autovacuum ran while `ready` was empty. Later claims of one session then read the
  // whole index again, to group the jobs that they had already found.
  test('P15 a claim reads as few pages after a vacuum of the empty table', async () => {
    const schema = freshSchema(url, 'vacuumed_ready')
    const own = postgres(url, { schema, notifier: false })
    await own.open()
    await own.instances.register(me)
    // One session, because sessions cache plans.
    const session = new pg.Client({ connectionString: url })
    await session.connect()
    /** The pages of the claim index that this session reads to claim so many jobs. */
    const pagesOfClaim = async (count: number): Promise<number> => {
      const { rows } = await session.query<{ told: string | null }>(
        `SELECT told::text FROM ${schema}.claim(NULL, $1, '{default}', ARRAY[$2::int4], ARRAY(SELECT id FROM ${schema}.kind),
           $2::int4, '{1}', '{-32769}', '{0}', '{32768}', false, 20, false, NULL, false, NULL)`,
        [me.id, count],
      )
      expect(rows).toHaveLength(count + 1)
      return (JSON.parse(rows.at(-1)?.told ?? '{}') as { pages: number }).pages
    }
    await own.enqueue(someJobs(plain(30)))
    await pagesOfClaim(30)
    await session.query(`VACUUM (ANALYZE) ${schema}.ready`)
    await own.enqueue(someJobs(plain(30)))
    // Planned again, for an empty table.
    await pagesOfClaim(30)
    for (let at = 0; at < 10; at += 1) await own.enqueue(someJobs(plain(1_000)))
    expect(await pagesOfClaim(30)).toBeLessThan(10)
    await session.end()
    await own.close()
  })

  // Found by the benchmark: autovacuum ran while `running` was empty, and every later finish scanned all of
  // it.
  test.each(['kept', 'forgotten', 'retried'] as const)(
    'P15 a finish of jobs that are %s costs the same after a vacuum of empty tables',
    async (how) => {
      const schema = freshSchema(url, `vacuumed_${how}`)
      const own = postgres(url, { schema, notifier: false, batchFrom: 1_000 })
      await own.open()
      await own.instances.register(me)
      // One session, because sessions cache plans.
      const session = new pg.Client({ connectionString: url })
      await session.connect()

      const take = async (count: number): Promise<Lease[]> => {
        await own.enqueue(someJobs(plain(count)))
        return own.claim(aClaim(me.id, { queues: [{ queue: 'default', room: count }], limit: count }))
      }
      /** Rows of `running` that this session has read. */
      const countRowsRead = async (): Promise<number> => {
        const { rows } = await session.query<{ seen: number }>(
          `SELECT (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int4 AS seen
           FROM pg_stat_xact_all_tables WHERE schemaname = $1 AND relname = 'running'`,
          [schema],
        )
        return rows[0]?.seen ?? 0
      }
      /** How many rows it read to finish these. */
      const end = async (leases: readonly Lease[]): Promise<number> => {
        await session.query('BEGIN')
        const before = await countRowsRead()
        const retried = leases.map(({ id, token }) => ({ id, token, to_state: 0, delay_ms: 9, outcome: 1 }))
        const plain = how === 'retried' ? [] : leases
        const { rows } = await session.query<{ told: string | null }>(
          `SELECT ${schema}.finish(NULL, $1, $2, '{}', '', $3, $4, 32, '{}', NULL) AS told`,
          [
            plain.map(({ id }) => id),
            plain.map(({ token }) => token),
            how === 'forgotten',
            how === 'retried' ? JSON.stringify(retried) : null,
          ],
        )
        expect(rows[0]?.told === null).toBe(how !== 'retried')
        expect(rows[0]?.told ?? '"left" : null').toContain('"left" : null')
        const looked = (await countRowsRead()) - before
        await session.query('COMMIT')
        return looked
      }

      await end(await take(100))
      await session.query(`VACUUM (ANALYZE) ${schema}.running`)
      // Planned again, for an empty table.
      await end(await take(2))
      for (let at = 0; at < 10; at += 1) await take(500)
      expect(await end(await take(20))).toBe(20)
      await session.end()
      await own.close()
    },
    60_000,
  )
})
