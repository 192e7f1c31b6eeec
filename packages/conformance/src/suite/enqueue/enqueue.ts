/** enqueue: durability, identity of ids, due times, and all fields of a job. */
import assert from 'node:assert/strict'
import { BOUNDS, DEFAULT_QUEUE_SETTINGS, entryOf, JOB_STATES } from 'jobmill/store'
import { aJob, DONE, HOUR, KIND, only, QUEUE, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { enqueued, hasFields, pluck, repeat } from '../looks.ts'

/** Descending ids, to check that ids do not affect the order. */
function fallingId(n: number): string {
  return `00000000-0000-7000-8000-0000000${(99_999 - n).toString().padStart(5, '0')}`
}

export const enqueueCases: readonly Case[] = [
  test('P1 an acknowledged job can be read through another handle at once', async (t) => {
    const other = await t.another()
    const id = await t.enqueue({ payload: { n: 1 } })
    hasFields((await other.get([id]))[0], { payload: '{"n":1}' })
  }),
  test('P1 P16 an acknowledged job outlives the handle that wrote it', async (t) => {
    const id = await t.enqueue()
    await t.store.close()
    hasFields((await (await t.another()).get([id]))[0], { state: 'ready' })
  }),
  test('P9 a job that is due now or was in the past is ready at once, by the given clock', async (t) => {
    for (const request of [{}, { delay: 0 }, { runAt: t.clock.now() }, { runAt: 0 }])
      await t.jobIs(await t.enqueue(request), { state: 'ready', dueAt: null, enqueuedAt: t.clock.now() })
  }),
  test('P9 a job that is due later is scheduled for that instant, by the given clock', async (t) => {
    for (const request of [{ delay: 1 }, { runAt: t.clock.now() + 1 }])
      await t.jobIs(await t.enqueue(request), { state: 'scheduled', dueAt: t.clock.now() + 1 })
  }),
  test('P9 without a given clock all handles use the clock of the database', async (t) => {
    const [one, other] = [t.unopened({}), t.unopened({})]
    await Promise.all([one.open(), other.open()])
    const [past, ahead] = [aJob({ runAt: 1 }), aJob({ delay: HOUR })]
    await one.enqueue([past, ahead])
    assert.deepEqual(await other.stage(10), { ready: 0, more: false, queues: [] })
    const [ready, scheduled] = await other.get([past.id, ahead.id])
    assert.equal(ready?.state, 'ready')
    assert.equal((scheduled?.dueAt ?? 0) - (scheduled?.enqueuedAt ?? 0), HOUR)
  }),
  test('a job is read as it was enqueued', async (t) => {
    const id = await t.enqueue({
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
      group: 'g',
    })
    const { tags, ...read } = await t.job(id)
    assert.deepEqual(tags.toSorted(), ['blue', 'red'])
    const common = {
      id,
      kind: 'email.send',
      queue: 'mail',
      priority: -3,
      maxAttempts: 9,
      orderKey: 'o',
      group: 'g',
    }
    const fresh = {
      minVersion: null,
      state: 'scheduled',
      attempt: 0,
      crashes: 0,
      waitsForOrder: false,
      waitsForGroup: false,
    }
    const times = { enqueuedAt: t.clock.now(), dueAt: t.clock.now() + 5_000, startedAt: null, endedAt: null }
    const summary = { ...common, ...fresh, ...times, instance: null, cancelReason: null }
    const data = { payload: '{"b":[1,2.5,null],"a":"x"}', metadata: '{"trace":"abc"}', result: null }
    const attempt = { progress: null, log: null, error: null, timeoutMs: 250, dedupeKey: 'queue mail k' }
    assert.deepEqual(read, { ...summary, ...data, ...attempt })
    const listed = only(await t.listAll())
    assert.deepEqual({ ...listed, tags: listed.tags.toSorted() }, { ...summary, tags: ['blue', 'red'] })
  }),
  test('strings are stored unchanged, whatever characters they contain', async (t) => {
    const text = `it's "quoted" \\ back\nslash %_ $1 ?1 :a {} 你好 😀 \u2028 \u007f`
    const plain = `it's "quoted" \\ %_ $1 ?1 :a {},() 你好 😀`
    const keys = { tags: [plain], orderKey: plain, group: plain }
    const data = { payload: { [plain]: text }, metadata: { [plain]: text } }
    const lease = await t.running({ ...data, ...keys, dedupe: { key: plain } })
    const json = JSON.stringify({ [plain]: text })
    hasFields(lease, { ...keys, payload: json, metadata: json })
    const value = JSON.stringify(text)
    await t.store.progress([{ id: lease.id, token: lease.token, value }])
    await t.jobIs(lease.id, { progress: value })
    await t.finish(lease, { to: 'done', result: value }, { error: text })
    await t.jobIs(lease.id, { result: value, error: text, tags: [plain], dedupeKey: `global ${plain}` })
  }),
  test('values at their bounds are kept', async (t) => {
    const least = { priority: BOUNDS.priority.least, maxAttempts: 1 }
    await t.jobIs(await t.enqueue({ ...least, timeout: 1 }), { ...least, timeoutMs: 1 })
    const most = await t.job(
      await t.enqueue({
        priority: BOUNDS.priority.most,
        maxAttempts: BOUNDS.maxAttempts.most,
        runAt: BOUNDS.lastInstantAt,
        timeout: BOUNDS.durationMs,
        kind: 'k'.repeat(BOUNDS.nameChars),
        queue: 'q'.repeat(BOUNDS.nameChars),
        orderKey: 'o'.repeat(BOUNDS.keyChars),
        group: 'g'.repeat(BOUNDS.keyChars),
        dedupe: { key: 'd'.repeat(BOUNDS.keyChars), scope: 'kind' },
        tags: Array.from({ length: BOUNDS.tags }, (_, n) => `${n}`.padEnd(BOUNDS.tagChars, '.')),
      }),
    )
    hasFields(most, { priority: BOUNDS.priority.most, maxAttempts: BOUNDS.maxAttempts.most })
    hasFields(most, { dueAt: BOUNDS.lastInstantAt, timeoutMs: BOUNDS.durationMs })
    assert.equal(most.tags.length, BOUNDS.tags)
    assert.equal(most.dedupeKey?.length, `kind ${most.kind} `.length + BOUNDS.keyChars)
  }),
  test('the longest index entries are stored next to all tags', async (t) => {
    const longest = '字'.repeat(BOUNDS.indexedChars)
    const entries = Array.from({ length: BOUNDS.indexedPaths }, (_, n) =>
      entryOf(`${n}${longest.slice(1)}`, longest),
    )
    const job = aJob({ tags: Array.from({ length: BOUNDS.tags }, (_, n) => `${n}`) })
    await t.store.enqueue([{ ...job, tags: [...job.tags, ...entries] }])
    for (const entry of entries) await t.lists({ tags: [entry], byTag: true, state: 'ready' }, [job.id])
  }),
  test('jobs of one call are claimed in the order of the call, and calls in theirs', async (t) => {
    const jobs = someJobs(Array.from({ length: 60 }, (_, n) => ({ id: fallingId(n) })))
    for (let from = 0; from < 60; from += 20) await t.store.enqueue(jobs.slice(from, from + 20))
    assert.deepEqual(await t.claimIds(await t.worker()), pluck(jobs, 'id'))
  }),
  test('the order of the call holds between jobs with a dedupe key and jobs without', async (t) => {
    const heldKey = { key: 'taken', onConflict: 'replace' } as const
    const holder = await t.enqueue({ dedupe: heldKey, delay: HOUR })
    const [a, b] = [{ dedupe: { key: 'a' } }, { dedupe: { key: 'b' } }]
    const jobs = someJobs([a, {}, { dedupe: heldKey }, {}, b, a, {}])
    await t.store.enqueue(jobs)
    const order = [0, 1, 2, 3, 4, 6].map((at) => (at === 2 ? holder : jobs[at]?.id))
    assert.deepEqual(await t.claimIds(await t.worker()), order)
  }),
  test('a new queue is created with the default settings', async (t) => {
    await t.enqueue({ queue: 'new', kind: 'new-kind' })
    const queue = (await t.store.queues.list()).find(({ name }) => name === 'new')
    assert.deepEqual(queue, { name: 'new', ...DEFAULT_QUEUE_SETTINGS, coolingMs: 0, throttles: 0 })
  }),
  test('a call of no jobs does nothing', async (t) => {
    assert.deepEqual(await t.changesNothing(() => t.store.enqueue([])), [])
  }),
  test('P3 one call is all or nothing', async (t) => {
    const existing = await t.enqueue()
    const [before, after] = [aJob(), aJob()]
    // Without mayRepeat a store may treat an existing id as an error or as the same job, but must not write
    // part of the call.
    const written = await t.store.enqueue([before, aJob({ id: existing }), after]).then(
      () => true,
      () => false,
    )
    const state = written ? 'ready' : null
    await t.statesAre([before.id, existing, after.id], [state, 'ready', state])
    await t.countsAre({ ready: written ? 3 : 1 })
  }),
  test('P3 a thousand jobs in one call are all stored', async (t) => {
    const jobs = someJobs(Array.from({ length: 1_000 }, (_, n) => ({ payload: n, tags: [`t${n % 3}`] })))
    assert.deepEqual(pluck(await t.store.enqueue(jobs), 'id'), pluck(jobs, 'id'))
    await t.countsAre({ ready: 1_000 })
    const instance = await t.worker()
    const leases = [...(await t.claim(instance)), ...(await t.claim(instance))]
    assert.deepEqual(pluck(leases, 'payload'), pluck(jobs, 'payload'))
    assert.deepEqual([leases[0]?.kind, leases[0]?.queue], [KIND, QUEUE])
  }),
  test('P11 a repeated call with one key twice reports the current holder of the key, or takes it', async (t) => {
    const dedupe = { key: 'k' }
    const [first, second] = [aJob({ dedupe }), aJob({ dedupe })]
    await t.store.enqueue([first, second])
    await t.finish(await t.claimOne(await t.worker()), DONE)
    const holder = aJob({ dedupe })
    await t.store.enqueue([holder])
    assert.deepEqual(await t.store.enqueue([first, second], { mayRepeat: true }), [
      { id: first.id, outcome: 'enqueued' },
      { id: holder.id, outcome: 'duplicate' },
    ])
    await t.store.cancel([holder.id], 'no')
    const again = await t.store.enqueue([first, second], { mayRepeat: true })
    assert.deepEqual(again, enqueued([first.id, second.id]))
  }),
  test('P11 an id that exists is the same job, whatever state it is in', async (t) => {
    for (const state of JOB_STATES) {
      const id = await t.jobIn(state)
      const again = aJob({ id, payload: 'another', priority: 7, tags: ['new'] })
      const reply = await t.changesNothing(() => t.store.enqueue([again], { mayRepeat: true }))
      assert.deepEqual(reply, enqueued([id]), state)
    }
  }),
  test('P11 an id sent concurrently by several handles makes one job', async (t) => {
    const stores = await t.handles(3)
    const jobs = someJobs(repeat({}, 20))
    const calls = [...stores, ...stores].map((each) => each.enqueue(jobs, { mayRepeat: true }))
    for (const reply of await Promise.all(calls)) assert.deepEqual(reply, enqueued(pluck(jobs, 'id')))
    await t.countsAre({ ready: 20 })
  }),
  test('P11 a repeated call writes only what is missing', async (t) => {
    const [first, second] = [aJob({ payload: 1 }), aJob({ payload: 2 })]
    await t.store.enqueue([first])
    await t.store.enqueue([{ ...first, payload: '9' }, second], { mayRepeat: true })
    await t.jobIs(first.id, { payload: '1' })
    await t.jobIs(second.id, { payload: '2' })
    await t.countsAre({ ready: 2 })
  }),
  test('P11 a repeated id ignores the current holder of its dedupe key', async (t) => {
    const dedupe = { key: 'k' }
    const first = await t.running({ dedupe })
    await t.finish(first, DONE)
    const holder = await t.enqueue({ dedupe })
    const again = aJob({ id: first.id, dedupe: { key: 'k', onConflict: 'replace' } })
    const reply = await t.changesNothing(() => t.store.enqueue([again], { mayRepeat: true }))
    assert.deepEqual(reply, enqueued([first.id]))
    assert.deepEqual(await t.store.enqueue([aJob({ dedupe })]), [{ id: holder, outcome: 'duplicate' }])
  }),
]
