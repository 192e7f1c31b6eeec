/** finish: fenced by the token, with every way an attempt can end. */
import assert from 'node:assert/strict'
import { OUTCOMES } from 'jobmill/store'
import { aClaim, aJob } from '../../factories.ts'
import { DEAD, DONE, HOUR, RELEASED, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, countsAreExact, countsOf, historyOf } from '../looks.ts'

export const finishCases: readonly Case[] = [
  test('done keeps the result, or else the reason why a result could not be kept', async (t) => {
    const { clock, running, finish, jobIs, claimAgain } = t
    const lease = await running()
    await finish(lease, later(0), { error: 'first' })
    await jobIs(lease.id, { error: 'first' })
    const again = await claimAgain(lease)
    clock.advance(5)
    const reply = await finish(again, { to: 'done', result: '{"ok":true}' })
    assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps: [] })
    await jobIs(lease.id, {
      state: 'done',
      result: '{"ok":true}',
      error: null,
      endedAt: clock.now(),
      startedAt: null,
      instance: null,
    })
    const odd = await running()
    await finish(odd, DONE, { error: 'not JSON' })
    await jobIs(odd.id, { result: null, error: 'not JSON' })
  }),
  test('dead and cancelled end a job with the error of the attempt', async (t) => {
    const { clock, running, finish, jobIs } = t
    for (const to of ['dead', 'cancelled'] as const) {
      const lease = await running()
      clock.advance(5)
      assert.equal((await finish(lease, { to }, { error: 'why' })).state, to)
      await jobIs(lease.id, { state: to, error: 'why', endedAt: clock.now(), result: null })
    }
  }),
  test('P9 scheduled waits for its delay, by the given clock', async (t) => {
    const { store, clock, running, finish, jobIs } = t
    const lease = await running()
    clock.advance(100)
    assert.equal((await finish(lease, later(1_000), { error: 'why' })).state, 'scheduled')
    await jobIs(lease.id, {
      state: 'scheduled',
      dueAt: clock.now() + 1_000,
      attempt: 1,
      error: 'why',
      endedAt: null,
      instance: null,
    })
    clock.advance(1_000)
    assert.equal((await store.stage(5)).ready, 1)
  }),
  test('scheduled without a delay is ready behind the others; released it is ready in its old place', async (t) => {
    const { clock, enqueue, worker, claim, finish, claimOne } = t
    const instance = await worker()
    const first = await enqueue()
    const readyAt = clock.now()
    const lease = await claimOne(instance)
    const second = await enqueue()
    clock.advance(5)
    assert.equal((await finish(lease, RELEASED)).state, 'ready')
    const kept = await claim(instance)
    assert.deepEqual(pluck(kept, 'id'), [first, second])
    assert.equal(kept[0]?.readyAt, readyAt)
    for (const one of kept) assert.equal((await finish(one, later(0))).state, 'ready')
    await finish(await claimOne(instance, { limit: 1 }), later(0))
    const again = await claim(instance)
    assert.deepEqual(pluck(again, 'id'), [second, first])
    assert.equal(again[0]?.readyAt, clock.now())
  }),
  test('a refund takes one off the attempt, and a release always refunds', async (t) => {
    const { running, finish, jobIs, claimAgain } = t
    const lease = await running()
    const next = async (): Promise<typeof lease> => claimAgain(lease)
    await finish(lease, later(0))
    await finish(await next(), later(0, { refund: true }), { outcome: 'snoozed' })
    await jobIs(lease.id, { attempt: 1 })
    await finish(await next(), RELEASED)
    await jobIs(lease.id, { attempt: 1 })
    await finish(await next(), RELEASED, { outcome: 'interrupted' })
    await jobIs(lease.id, { attempt: 1 })
    assert.equal((await next()).attempt, 2)
  }),
  test('a job that is dead without having run is refunded if requested, and its attempt is recorded anyway', async (t) => {
    const { store, finish, jobIs, runningJobs, claimAgain } = t
    const [never, once, asked] = await runningJobs(3)
    await finish(never, { to: 'dead', refund: true }, { error: 'no handler' })
    await jobIs(never.id, { state: 'dead', attempt: 0 })
    const [recorded] = await store.history(never.id)
    hasFields(recorded, { attempt: 1, outcome: 'failed-permanently', error: 'no handler' })
    await finish(once, later(0))
    const again = await claimAgain(once)
    await finish(again, { to: 'dead', refund: false })
    await jobIs(once.id, { attempt: 2 })
    await store.cancel([asked.id], 'stop it')
    assert.equal((await finish(asked, { to: 'dead', refund: true })).state, 'cancelled')
    await jobIs(asked.id, { attempt: 0 })
    await countsAreExact(store)
  }),
  test('every outcome is recorded with its attempt, oldest first; a null outcome is not', async (t) => {
    const { store, clock, running, finish, claimOne, worker } = t
    const lease = await running()
    const instance = await worker({ leaseMs: HOUR })
    await finish(lease, RELEASED)
    const tokens: number[] = []
    for (const outcome of OUTCOMES) {
      const one = await claimOne(instance, { kinds: [lease.kind] })
      tokens.push(one.token)
      clock.advance(100)
      await finish(one, later(0), { outcome, error: `because ${outcome}` })
    }
    const history = await store.history(lease.id)
    assert.deepEqual(pluck(history, 'outcome'), OUTCOMES)
    assert.deepEqual(
      pluck(history, 'error'),
      OUTCOMES.map((outcome) => `because ${outcome}`),
    )
    assert.deepEqual(pluck(history, 'token'), tokens)
    assert.deepEqual(
      pluck(history, 'attempt'),
      OUTCOMES.map((_, n) => n + 1),
    )
    const last = history.at(-1)
    hasFields(last, { instance, startedAt: clock.now() - 100, endedAt: clock.now() })
  }),
  test('P9 an attempt started as long before its end as it ran, never before the claim', async (t) => {
    const { store, clock, finish, runningJobs } = t
    const times: (number | null | undefined)[] = []
    const claimedAt = clock.now()
    const leases = await runningJobs(4)
    clock.advance(1_000)
    for (const [n, ranMs] of [undefined, 0, 400, HOUR].entries()) {
      const lease = leases[n]
      assert.ok(lease)
      await finish(lease, DONE, { ranMs })
      times.push((await store.history(lease.id))[0]?.startedAt)
    }
    assert.deepEqual(times, [claimedAt, clock.now(), clock.now() - 400, claimedAt])
  }),
  test('the newest 32 attempts are kept', async ({ store, running, finish, claimOne, worker }) => {
    const lease = await running()
    const instance = await worker()
    await finish(lease, later(0), { error: '1' })
    for (let n = 2; n <= 40; n += 1) {
      await finish(await claimOne(instance, { kinds: [lease.kind] }), later(0), { error: `${n}` })
    }
    const history = await store.history(lease.id)
    assert.deepEqual(
      pluck(history, 'error'),
      Array.from({ length: 32 }, (_, n) => `${n + 9}`),
    )
    await store.cancel([lease.id], 'no')
    assert.equal((await store.history(lease.id)).length, 32)
    assert.deepEqual((await store.history(lease.id)).at(-1)?.error, 'no')
  }),
  test('P8 a requested cancel wins over every transition but done', async (t) => {
    const { store, running, finish, job } = t
    for (const transition of [later(0), later(HOUR), later(0, { refund: true }), RELEASED, DEAD]) {
      const lease = await running()
      await store.cancel([lease.id], 'stop it')
      const reply = await finish(lease, transition, {
        outcome: 'failed',
        error: 'other',
        followUps: [aJob()],
      })
      assert.deepEqual([reply.accepted, reply.state, reply.followUps], [true, 'cancelled', []])
      const { state, error, endedAt } = await job(lease.id)
      assert.deepEqual([state, error, endedAt === null], ['cancelled', 'stop it', false])
      assert.deepEqual(await historyOf(store, lease.id), [['cancelled', 'stop it']])
    }
    await countsAreExact(store)
  }),
  test('P8 work that is done stays done although a cancel was requested', async (t) => {
    const { store, running, finish, jobIs } = t
    const lease = await running()
    await store.cancel([lease.id], 'stop it')
    assert.equal((await finish(lease, { to: 'done', result: '1' })).state, 'done')
    await jobIs(lease.id, { state: 'done', result: '1', cancelReason: null, error: null })
    assert.deepEqual(await historyOf(store, lease.id), [['returned', null]])
  }),
  test('P2 P3 items of one call are independent: stale ones are refused, the others written, in order', async (t) => {
    const { store, finish, runningJobs } = t
    const [stale, one, two, repeated] = await runningJobs(4)
    await finish(stale, RELEASED)
    await finish(repeated, DONE)
    const items = [two, stale, one, one, repeated].map((lease) => aFinish(lease, DONE))
    const replies = await store.finish(items)
    assert.deepEqual(pluck(replies, 'id'), pluck(items, 'id'))
    assert.deepEqual(pluck(replies, 'accepted'), [true, false, true, true, true])
    assert.deepEqual(pluck(replies, 'state'), ['done', null, 'done', 'done', 'done'])
    assert.deepEqual(await countsOf(store), { ready: 1, done: 3 })
    for (const { id } of [one, two]) assert.equal((await store.history(id)).length, 1)
    assert.deepEqual(await store.finish([]), [])
  }),
  test('P3 a full batch of mixed endings is written as one', async ({ store, worker, claim }) => {
    await store.enqueue(Array.from({ length: 250 }, (_, n) => aJob({ payload: n })))
    const leases = await claim(await worker())
    const transitions = [{ to: 'done', result: '{"r":1}' }, later(HOUR), later(0), RELEASED, DEAD] as const
    const replies = await store.finish(leases.map((lease, n) => aFinish(lease, transitions[n % 5] ?? DONE)))
    assert.ok(replies.every(({ accepted }) => accepted))
    assert.deepEqual(pluck(replies.slice(0, 5), 'state'), ['done', 'scheduled', 'ready', 'ready', 'dead'])
    assert.deepEqual(await countsOf(store), { done: 50, scheduled: 50, ready: 100, dead: 50 })
    // Released jobs keep their positions. Jobs retried at once come after them.
    const next = await store.claim(aClaim(await worker()))
    const order = [3, 2].flatMap((rest) => leases.filter((_, n) => n % 5 === rest).map(({ id }) => id))
    assert.deepEqual(pluck(next, 'id'), order)
  }),
]
