// Bulk calls use other statements than single ones; both must give the same results.
import Database from 'better-sqlite3'
import { assert, expect, test } from 'vitest'
import { enqueuer } from '../../src/internal.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'
import { freshFile, linkTo, openStore } from './support.ts'

const TEXTS = [
  '"',
  '\\',
  '\\u0041',
  '\u{1f600}',
  '\u2028',
  '\t\n',
  '\u001f',
  "'",
  '</script>',
  '[1,{"a":null}]',
  '',
] as const

test('payloads and results are read back unchanged', async () => {
  const store = await openStore()
  const instance = anInstance()
  await store.instances.register(instance)
  const jobs = someJobs(TEXTS.map((text) => ({ payload: { [text]: text } })))
  await store.enqueue(jobs)
  const leases = await store.claim(aClaim(instance.id))
  assert.deepEqual(
    leases.map(({ payload }) => payload),
    jobs.map(({ payload }) => payload),
  )
  await store.finish(
    leases.map(({ id, token, payload }) => ({
      id,
      token,
      transition: { to: 'done', result: payload },
      outcome: 'returned',
    })),
  )
  const records = await store.get(jobs.map(({ id }) => id))
  assert.deepEqual(
    records.map((record) => record?.result),
    jobs.map(({ payload }) => payload),
  )
})

test('large and small, plain and keyed, ready and delayed jobs are stored in the order of the call', async () => {
  const store = await openStore()
  const instance = anInstance()
  await store.instances.register(instance)
  const large = 'x'.repeat(100_000)
  const jobs = Array.from({ length: 40 }, (_, at) =>
    aJob({
      payload: at % 3 === 0 ? large : at,
      ...(at % 5 === 0 ? { dedupe: { key: `k${at}` } } : {}),
      ...(at % 7 === 0 ? { tags: ['t'], metadata: { at } } : {}),
      ...(at % 11 === 0 ? { delay: 60_000 } : {}),
    }),
  )
  const replies = await store.enqueue(jobs)
  assert.deepEqual(
    replies,
    jobs.map(({ id }) => ({ id, outcome: 'enqueued' })),
  )
  const leases = await store.claim(aClaim(instance.id))
  assert.deepEqual(
    leases.map(({ id }) => id),
    jobs.filter(({ delayMs }) => delayMs === 0).map(({ id }) => id),
  )
  const finishes = leases.map(({ id, token }, at) => ({
    id,
    token,
    transition: { to: 'done', result: at % 2 === 0 ? JSON.stringify(large) : null },
    outcome: 'returned',
  })) as Parameters<typeof store.finish>[0]
  // Each twice in the same call: the second repeats the first.
  const answers = await store.finish([...finishes, ...finishes])
  assert.isTrue(answers.every(({ accepted, state }) => accepted && state === 'done'))
  expect(await store.counts()).toMatchObject([{ done: 36, scheduled: 4, ready: 0, running: 0 }])
  assert.equal((await store.history(leases[0]?.id ?? '')).length, 1)
})

test('existing ids are not counted twice', async () => {
  const store = await openStore()
  const jobs = someJobs(Array.from({ length: 10 }, () => ({})))
  await store.enqueue(jobs.slice(0, 5))
  await store.enqueue(jobs, { mayRepeat: true })
  expect(await store.counts()).toMatchObject([{ ready: 10 }])
})

test('D4 a large call is written through a symbolic link', async () => {
  const store = await openStore(linkTo(freshFile()))
  await store.enqueue(someJobs(Array.from({ length: 24 }, () => ({ payload: 'x'.repeat(256 * 1024) }))))
  expect(await store.counts()).toMatchObject([{ ready: 24 }])
})

test('D7 a call is bounded by 64 MiB, because other processes cannot renew their leases while it is written', async () => {
  const path = freshFile()
  const store = await openStore(path)
  const { write } = enqueuer(store)
  const db = new Database(path)
  db.exec('BEGIN')
  const jobs = someJobs(Array.from({ length: 64 }, () => ({ payload: 'x'.repeat(1024 * 1024 - 2) })))
  for (const tx of [undefined, db])
    await expect(write([...jobs, aJob()], { tx, mayRepeat: false })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      retryable: false,
      message: 'items: must not exceed 64 MiB in total (got 65 MiB). Split the items into several calls.',
    })
  db.exec('COMMIT')
  db.close()
  assert.deepEqual(await store.counts(), [])
})

test('D7 a large call is written completely or not at all, without blocking the event loop or other connections', async () => {
  const path = freshFile()
  const store = await openStore(path)
  const other = new Database(path)
  other.exec(
    `CREATE TRIGGER refused BEFORE INSERT ON jobmill_job WHEN NEW.priority = 3 BEGIN SELECT RAISE(FAIL, 'no'); END`,
  )
  const large = Array.from({ length: 48 }, () => ({ payload: 'x'.repeat(256 * 1024) }))
  await expect(store.enqueue(someJobs([...large, { priority: 3 }]))).rejects.toThrow('no')
  assert.deepEqual(await store.counts(), [])
  let turns = 0
  const count = (): void => void ((turns += 1), setImmediate(count).unref())
  count()
  const jobs = someJobs([...large, { dedupe: { key: 'k' } }, { dedupe: { key: 'k' } }])
  const [replies] = await Promise.all([store.enqueue(jobs), store.enqueue([aJob()]), store.counts()])
  assert.isAbove(turns, 8)
  assert.equal(replies.at(-1)?.outcome, 'duplicate')
  expect(await store.counts()).toMatchObject([{ ready: 50 }])
  other.close()
})
