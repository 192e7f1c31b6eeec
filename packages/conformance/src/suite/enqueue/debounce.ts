/** Debounced jobs: one job for many enqueues, with the last payload, once no more arrive. */
import assert from 'node:assert/strict'
import type { JobRequest } from 'jobmill/store'
import { aJob, DONE, HOUR, KIND, later, only } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, isVerdict, pluck } from '../looks.ts'

const WAIT = 1_000
const debounce = { key: 'k', wait: WAIT }

async function ask({ store }: Bench, request: Partial<JobRequest> = {}): Promise<[string, string]> {
  const job = aJob({ debounce, ...request })
  const { id, outcome } = only(await store.enqueue([job]))
  return [outcome, id === job.id ? 'new' : id]
}

/** Advances the clock and stages. Returns how many jobs became ready. */
async function pass(t: Bench, ms: number): Promise<number> {
  t.clock.advance(ms)
  return (await t.store.stage(10)).ready
}

/** What can happen to a debounced job before it is due, by name. */
const BEFORE: Readonly<Record<string, (t: Bench, id: string) => Promise<unknown>>> = {
  'run now': (t, id) => t.store.runNow([id]),
  cancelled: (t, id) => t.store.cancel([id], 'no'),
  async 'cancelled and retried'(t, id) {
    await t.store.cancel([id], 'no')
    isVerdict(only(await t.store.retry([id])), 'changed', 'ready')
  },
  async running(t, id) {
    await t.store.runNow([id])
    await t.claimOne(await t.worker(), { kinds: [(await t.job(id)).kind] })
  },
  async 'waiting for a retry'(t, id) {
    await t.store.runNow([id])
    const lease = await t.claimOne(await t.worker(), { kinds: [(await t.job(id)).kind] })
    await t.finish(lease, later(WAIT))
  },
}

export const debounceCases: readonly Case[] = [
  test('a debounced job is due after the wait, and each enqueue until then replaces its payload and starts the wait again', async (t) => {
    const first = { priority: 3, maxAttempts: 7, payload: 1, tags: ['old', 'both'], metadata: { n: 1 } }
    const id = await t.enqueue({ debounce, ...first })
    const before = await t.job(id)
    hasFields(before, { state: 'scheduled', dueAt: t.clock.now() + WAIT })
    for (const payload of [2, 3]) {
      t.clock.advance(WAIT - 1)
      const next = {
        payload,
        tags: ['both', `new-${payload}`],
        metadata: { n: payload },
        priority: 0,
        queue: 'b',
      }
      assert.deepEqual(await ask(t, next), ['replaced', id])
    }
    const after = { payload: '3', metadata: '{"n":3}', tags: ['both', 'new-3'], dueAt: t.clock.now() + WAIT }
    assert.deepEqual(await t.job(id), { ...before, ...after })
    for (const tag of ['both', 'new-3']) await t.lists({ tags: [tag], byTag: true }, [id])
    for (const tag of ['old', 'new-2']) await t.lists({ tags: [tag], byTag: true }, [])
    assert.equal(await pass(t, WAIT - 1), 0)
    assert.equal(await pass(t, 1), 1)
    hasFields(await t.claimOne(await t.worker()), { id, payload: '3', priority: 3, maxAttempts: 7 })
  }),
  test('an enqueue without tags and metadata removes those of the job that waits', async (t) => {
    const id = await t.enqueue({ debounce, tags: ['old'], metadata: { n: 1 } })
    assert.deepEqual(await ask(t), ['replaced', id])
    await t.jobIs(id, { tags: [], metadata: null, payload: 'null' })
    await t.lists({ tags: ['old'], byTag: true }, [])
  }),
  test('P9 a debounced job is never due later than maxWait after its first enqueue', async (t) => {
    const limited = { debounce: { ...debounce, maxWait: 2.5 * WAIT } }
    const id = await t.enqueue(limited)
    const firstAt = t.clock.now()
    t.clock.advance(900)
    assert.deepEqual(await ask(t, limited), ['replaced', id])
    await t.jobIs(id, { dueAt: firstAt + 900 + WAIT })
    t.clock.advance(900)
    assert.deepEqual(await ask(t, { ...limited, payload: 'last' }), ['replaced', id])
    await t.jobIs(id, { dueAt: firstAt + 2.5 * WAIT })
    assert.equal(await pass(t, 699), 0)
    assert.equal(await pass(t, 1), 1)
    assert.deepEqual(await ask(t, limited), ['enqueued', 'new'])
    await t.jobIs(id, { state: 'ready', payload: '"last"' })
  }),
  test('the wait and maxWait of the last enqueue apply, and a time that has passed means now', async (t) => {
    const id = await t.enqueue({ debounce })
    assert.deepEqual(await ask(t, { debounce: { key: 'k', wait: HOUR } }), ['replaced', id])
    await t.jobIs(id, { dueAt: t.clock.now() + HOUR })
    t.clock.advance(100)
    assert.deepEqual(await ask(t, { debounce: { key: 'k', wait: 10, maxWait: 50 } }), ['replaced', id])
    await t.jobIs(id, { state: 'scheduled', dueAt: t.clock.now() })
    assert.deepEqual(await ask(t), ['enqueued', 'new'])
    assert.equal(await pass(t, 0), 1)
  }),
  test('P9 an enqueue once a debounced job is due makes a new job, in whatever state the first one is', async (t) => {
    const first = await t.enqueue({ debounce, payload: 1 })
    t.clock.advance(WAIT)
    const second = await t.enqueue({ debounce, payload: 2 })
    await t.jobIs(first, { state: 'scheduled', payload: '1' })
    await pass(t, WAIT)
    const third = await t.enqueue({ debounce, payload: 3 })
    const [lease] = await t.claim(await t.worker())
    assert.deepEqual([lease?.id, lease?.payload], [first, '1'])
    assert.deepEqual(await ask(t, { payload: 4 }), ['replaced', third])
    if (lease !== undefined) await t.finish(lease, DONE)
    assert.deepEqual(await ask(t, { payload: 5 }), ['replaced', third])
    await t.jobIs(second, { payload: '2' })
    await t.jobIs(third, { payload: '5' })
  }),
  test('an enqueue makes a new job if the debounced job no longer waits for its first start', async (t) => {
    for (const [key, happens] of Object.entries(BEFORE)) {
      const request = { debounce: { key, wait: HOUR }, kind: `kind-${Object.keys(BEFORE).indexOf(key)}` }
      const old = await t.enqueue(request)
      await happens(t, old)
      const before = await t.job(old)
      const next = await t.enqueue({ ...request, payload: 2 })
      assert.deepEqual(await t.job(old), before, key)
      assert.deepEqual(await ask(t, { ...request, payload: 3 }), ['replaced', next], key)
      await t.store.delete([next])
      assert.deepEqual(await ask(t, request), ['enqueued', 'new'], key)
    }
  }),
  test('a debounced job does not free the key of the next one', async (t) => {
    const old = await t.enqueue({ debounce })
    await pass(t, WAIT)
    const next = await t.enqueue({ debounce })
    await t.finish(await t.claimOne(await t.worker()), DONE)
    assert.deepEqual(await ask(t), ['replaced', next])
    await t.store.delete([old])
    assert.deepEqual(await ask(t), ['replaced', next])
  }),
  test('each kind debounces on its own, and no dedupe key is the same as a debounce key', async (t) => {
    await t.enqueue({ debounce })
    await t.enqueue({ debounce, kind: 'other' })
    await t.enqueue({ dedupe: { key: 'k' } })
    await t.enqueue({ dedupe: { key: 'k', scope: 'kind' } })
    await t.enqueue({ dedupe: { key: `debounce ${KIND} k` } })
    await t.countsAre({ scheduled: 2, ready: 3 })
  }),
  test('items of one call that are debounced together are one job with the last payload', async (t) => {
    const jobs = [
      ...[1, 2].map((payload) => aJob({ debounce, payload })),
      aJob({ payload: 3 }),
      aJob({ debounce: { key: 'other', wait: WAIT }, payload: 4 }),
      aJob({ debounce: { key: 'k', wait: HOUR }, payload: 5 }),
    ]
    const replies = await t.store.enqueue(jobs)
    assert.deepEqual(pluck(replies, 'outcome'), ['enqueued', 'replaced', 'enqueued', 'enqueued', 'replaced'])
    const id = jobs[0]?.id ?? ''
    for (const at of [0, 1, 4]) assert.equal(replies[at]?.id, id)
    await t.jobIs(id, { payload: '5', dueAt: t.clock.now() + HOUR })
    await t.countsAre({ scheduled: 2, ready: 1 })
  }),
  test('P11 an enqueue of a debounced job that is sent again is the same job', async (t) => {
    const job = aJob({ debounce })
    const reply = [{ id: job.id, outcome: 'enqueued' }]
    assert.deepEqual(await t.store.enqueue([job]), reply)
    assert.deepEqual(await t.changesNothing(() => t.store.enqueue([job], { mayRepeat: true })), reply)
    await pass(t, WAIT)
    assert.deepEqual(await t.changesNothing(() => t.store.enqueue([job], { mayRepeat: true })), reply)
  }),
  test('enqueues at the same time make one debounced job, with the payload of one of them', async (t) => {
    const stores = await t.handles(3)
    const calls = Array.from({ length: 24 }, (_, n) =>
      [n % 2, 1 - (n % 2)].map((key) => aJob({ payload: n, debounce: { key: `k${key}`, wait: WAIT } })),
    )
    const replies = (
      await Promise.all(calls.map((jobs, n) => (stores[n % 3] ?? t.store).enqueue(jobs)))
    ).flat()
    const made = replies.filter(({ outcome }) => outcome === 'enqueued')
    assert.equal(made.length, 2)
    assert.equal(replies.filter(({ outcome }) => outcome === 'replaced').length, 46)
    await t.countsAre({ scheduled: 2 })
    for (const { id } of made) {
      const { payload } = await t.job(id)
      assert.ok(Number(payload) >= 0 && Number(payload) < 24)
    }
  }),
  test('retention deletes the key of a debounced job once the job is due', async (t) => {
    await t.enqueue({ debounce })
    t.clock.advance(WAIT - 1)
    assert.deepEqual((await ask(t))[0], 'replaced')
    t.clock.advance(WAIT - 1)
    assert.equal((await t.retain()).keys, 0)
    t.clock.advance(1)
    assert.equal((await t.retain()).keys, 1)
  }),
]
