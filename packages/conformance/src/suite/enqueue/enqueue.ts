/** enqueue: durability, identity of ids, due times, and all fields of a job. */
import assert from 'node:assert/strict'
import { BOUNDS, DEFAULT_QUEUE_SETTINGS } from 'jobmill/store'
import { KIND, QUEUE, aJob, someJobs } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, changesNothing, countsOf, listAll } from '../looks.ts'

/** Descending ids, to check that ids do not affect the order. */
function fallingId(n: number): string {
  return `00000000-0000-7000-8000-0000000${(99_999 - n).toString().padStart(5, '0')}`
}

export const enqueueCases: readonly Case[] = [
  test('P1 an acknowledged job can be read through another handle at once', async ({ enqueue, another }) => {
    const other = await another()
    const id = await enqueue({ payload: { n: 1 } })
    hasFields((await other.get([id]))[0], { payload: '{"n":1}' })
  }),
  test('P1 P16 an acknowledged job outlives the handle that wrote it', async (t) => {
    const { store, enqueue, another } = t
    const id = await enqueue()
    await store.close()
    hasFields((await (await another()).get([id]))[0], { state: 'ready' })
  }),
  test('P9 a job that is due now or was in the past is ready at once, by the given clock', async (t) => {
    const { clock, enqueue, jobIs } = t
    for (const request of [{}, { delay: 0 }, { runAt: clock.now() }, { runAt: 0 }]) {
      await jobIs(await enqueue(request), { state: 'ready', dueAt: null, enqueuedAt: clock.now() })
    }
  }),
  test('P9 a job that is due later is scheduled for that instant, by the given clock', async (t) => {
    const { clock, enqueue, jobIs } = t
    for (const request of [{ delay: 1 }, { runAt: clock.now() + 1 }]) {
      await jobIs(await enqueue(request), { state: 'scheduled', dueAt: clock.now() + 1 })
    }
  }),
  test('P9 without a given clock all handles use the clock of the database', async ({ unopened }) => {
    const [one, other] = [unopened({}), unopened({})]
    await Promise.all([one.open(), other.open()])
    const [past, ahead] = [aJob({ runAt: 1 }), aJob({ delay: HOUR })]
    await one.enqueue([past, ahead])
    assert.deepEqual(await other.stage(10), { ready: 0, more: false, queues: [] })
    const [ready, scheduled] = await other.get([past.id, ahead.id])
    assert.equal(ready?.state, 'ready')
    assert.equal((scheduled?.dueAt ?? 0) - (scheduled?.enqueuedAt ?? 0), HOUR)
  }),
  test('a job is read as it was enqueued', async ({ store, clock, enqueue, job }) => {
    const id = await enqueue({
      kind: 'email.send',
      queue: 'mail',
      payload: { b: [1, 2.5, null], a: 'x' },
      priority: -3,
      maxAttempts: 9,
      delay: 5_000,
      timeout: 250,
      tags: ['red', 'blue'],
      metadata: { trace: 'abc' },
      dedupe: { key: 'k', scope: 'queue' },
      orderKey: 'o',
    })
    const { tags, ...read } = await job(id)
    assert.deepEqual(tags.toSorted(), ['blue', 'red'])
    const common = { id, kind: 'email.send', queue: 'mail', priority: -3, maxAttempts: 9, orderKey: 'o' }
    const fresh = {
      state: 'scheduled',
      attempt: 0,
      crashes: 0,
      waitsForOrder: false,
      enqueuedAt: clock.now(),
    }
    const nothing = { startedAt: null, endedAt: null, instance: null, cancelReason: null }
    const summary = { ...common, ...fresh, ...nothing, dueAt: clock.now() + 5_000 }
    assert.deepEqual(read, {
      ...summary,
      payload: '{"b":[1,2.5,null],"a":"x"}',
      metadata: '{"trace":"abc"}',
      result: null,
      progress: null,
      log: null,
      error: null,
      timeoutMs: 250,
      dedupeKey: 'queue mail k',
    })
    assert.deepEqual(
      (await listAll(store)).map(({ tags, ...rest }) => [tags.toSorted(), rest]),
      [[['blue', 'red'], summary]],
    )
  }),
  test('strings are stored unchanged, whatever characters they contain', async (t) => {
    const { store, running, finish, jobIs } = t
    const text = `it's "quoted" \\ back\nslash %_ $1 ?1 :a {} 你好 😀 \u2028 \u007f`
    const plain = `it's "quoted" \\ %_ $1 ?1 :a {},() 你好 😀`
    const request = {
      payload: { [plain]: text },
      metadata: { [plain]: text },
      tags: [plain],
      orderKey: plain,
    }
    const lease = await running({ ...request, dedupe: { key: plain } })
    assert.deepEqual([lease.payload, lease.metadata], [JSON.stringify({ [plain]: text }), lease.payload])
    assert.deepEqual([lease.tags, lease.orderKey], [[plain], plain])
    await store.progress([{ id: lease.id, token: lease.token, value: JSON.stringify(text) }])
    await jobIs(lease.id, { progress: JSON.stringify(text) })
    await finish(lease, { to: 'done', result: JSON.stringify(text) }, { error: text })
    await jobIs(lease.id, {
      result: JSON.stringify(text),
      error: text,
      tags: [plain],
      dedupeKey: `global ${plain}`,
    })
  }),
  test('values at their bounds are kept', async ({ enqueue, job }) => {
    const least = await job(await enqueue({ priority: BOUNDS.priority.least, maxAttempts: 1, timeout: 1 }))
    assert.deepEqual([least.priority, least.maxAttempts, least.timeoutMs], [BOUNDS.priority.least, 1, 1])
    const most = await job(
      await enqueue({
        priority: BOUNDS.priority.most,
        maxAttempts: BOUNDS.maxAttempts.most,
        runAt: BOUNDS.lastInstantAt,
        timeout: BOUNDS.durationMs,
        kind: 'k'.repeat(BOUNDS.nameChars),
        queue: 'q'.repeat(BOUNDS.nameChars),
        orderKey: 'o'.repeat(BOUNDS.keyChars),
        dedupe: { key: 'd'.repeat(BOUNDS.keyChars), scope: 'kind' },
        tags: Array.from({ length: BOUNDS.tags }, (_, n) => `${n}`.padEnd(BOUNDS.tagChars, '.')),
      }),
    )
    assert.deepEqual([most.priority, most.maxAttempts], [BOUNDS.priority.most, BOUNDS.maxAttempts.most])
    assert.deepEqual([most.dueAt, most.timeoutMs], [BOUNDS.lastInstantAt, BOUNDS.durationMs])
    assert.equal(most.tags.length, BOUNDS.tags)
    assert.equal(most.dedupeKey?.length, `kind ${most.kind} `.length + BOUNDS.keyChars)
  }),
  test('jobs of one call are claimed in the order of the call, and calls in theirs', async (t) => {
    const { store, worker, claim } = t
    const jobs = someJobs(Array.from({ length: 60 }, (_, n) => ({ id: fallingId(n) })))
    for (let from = 0; from < 60; from += 20) await store.enqueue(jobs.slice(from, from + 20))
    assert.deepEqual(pluck(await claim(await worker()), 'id'), pluck(jobs, 'id'))
  }),
  test('the order of the call holds between jobs with a dedupe key and jobs without', async (t) => {
    const { store, enqueue, worker, claim } = t
    const heldKey = { key: 'taken', onConflict: 'replace' } as const
    const holder = await enqueue({ dedupe: heldKey, delay: HOUR })
    const jobs = someJobs([
      { dedupe: { key: 'a' } },
      {},
      { dedupe: heldKey },
      {},
      { dedupe: { key: 'b' } },
      { dedupe: { key: 'a' } },
      {},
    ])
    await store.enqueue(jobs)
    const order = [0, 1, 2, 3, 4, 6].map((at) => (at === 2 ? holder : jobs[at]?.id))
    assert.deepEqual(pluck(await claim(await worker()), 'id'), order)
  }),
  test('a new queue is created with the default settings', async ({ store, enqueue }) => {
    await enqueue({ queue: 'new', kind: 'new-kind' })
    const queue = (await store.queues.list()).find(({ name }) => name === 'new')
    assert.deepEqual(queue, { name: 'new', ...DEFAULT_QUEUE_SETTINGS, coolingMs: 0, throttles: 0 })
  }),
  test('a call of no jobs does nothing', async ({ store }) => {
    assert.deepEqual(await changesNothing(store, () => store.enqueue([])), [])
  }),
  test('P3 one call is all or nothing', async ({ store, enqueue }) => {
    const existing = await enqueue()
    const [before, after] = [aJob(), aJob()]
    // Without mayRepeat a store may treat an existing id as an error or as the same job, but must not write
    // part of the call.
    const written = await store.enqueue([before, aJob({ id: existing }), after]).then(
      () => true,
      () => false,
    )
    const jobs = await store.get([before.id, existing, after.id])
    assert.deepEqual(
      jobs.map((job) => job !== null),
      [written, true, written],
    )
    assert.deepEqual(await countsOf(store), { ready: written ? 3 : 1 })
  }),
  test('P3 a thousand jobs in one call are all stored', async ({ store, worker, claim }) => {
    const jobs = someJobs(Array.from({ length: 1_000 }, (_, n) => ({ payload: n, tags: [`t${n % 3}`] })))
    assert.deepEqual(pluck(await store.enqueue(jobs), 'id'), pluck(jobs, 'id'))
    assert.deepEqual(await countsOf(store), { ready: 1_000 })
    const instance = await worker()
    const leases = [...(await claim(instance)), ...(await claim(instance))]
    assert.deepEqual(pluck(leases, 'payload'), pluck(jobs, 'payload'))
    assert.deepEqual([leases[0]?.kind, leases[0]?.queue], [KIND, QUEUE])
  }),
]
