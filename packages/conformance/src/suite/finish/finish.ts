/** finish: fenced by the token, with every way an attempt can end. */
import assert from 'node:assert/strict'
import { OUTCOMES } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, HOUR, later, RELEASED } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'

export const finishCases: readonly Case[] = [
  test('done keeps the result, or else the reason why a result could not be kept', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(0), { error: 'first' })
    await t.jobIs(lease.id, { error: 'first' })
    const again = await t.claimAgain(lease)
    t.clock.advance(5)
    const reply = await t.finish(again, { to: 'done', result: '{"ok":true}' })
    assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps: [] })
    const ended = { endedAt: t.clock.now(), startedAt: null, instance: null }
    await t.jobIs(lease.id, { ...ended, state: 'done', result: '{"ok":true}', error: null })
    const odd = await t.running()
    await t.finish(odd, DONE, { error: 'not JSON' })
    await t.jobIs(odd.id, { result: null, error: 'not JSON' })
  }),
  test('dead and cancelled end a job with the error of the attempt', async (t) => {
    for (const to of ['dead', 'cancelled'] as const) {
      const lease = await t.running()
      t.clock.advance(5)
      assert.equal((await t.finish(lease, { to }, { error: 'why' })).state, to)
      await t.jobIs(lease.id, { state: to, error: 'why', endedAt: t.clock.now(), result: null })
    }
  }),
  test('P9 scheduled waits for its delay, by the given clock', async (t) => {
    const lease = await t.running()
    t.clock.advance(100)
    assert.equal((await t.finish(lease, later(1_000), { error: 'why' })).state, 'scheduled')
    const waits = { state: 'scheduled', dueAt: t.clock.now() + 1_000, endedAt: null, instance: null } as const
    await t.jobIs(lease.id, { ...waits, attempt: 1, error: 'why' })
    t.clock.advance(1_000)
    assert.equal((await t.store.stage(5)).ready, 1)
  }),
  test('scheduled without a delay is ready behind the others; released it is ready in its old place', async (t) => {
    const instance = await t.worker()
    const first = await t.enqueue()
    const readyAt = t.clock.now()
    const lease = await t.claimOne(instance)
    const second = await t.enqueue()
    t.clock.advance(5)
    assert.equal((await t.finish(lease, RELEASED)).state, 'ready')
    const kept = await t.claim(instance)
    assert.deepEqual(pluck(kept, 'id'), [first, second])
    assert.equal(kept[0]?.readyAt, readyAt)
    for (const one of kept) assert.equal((await t.finish(one, later(0))).state, 'ready')
    await t.finish(await t.claimOne(instance, { limit: 1 }), later(0))
    const again = await t.claim(instance)
    assert.deepEqual(pluck(again, 'id'), [second, first])
    assert.equal(again[0]?.readyAt, t.clock.now())
  }),
  test('a refund takes one off the attempt, and a release always refunds', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(0))
    for (const [transition, outcome] of [
      [later(0, { refund: true }), 'snoozed'],
      [RELEASED, null],
      [RELEASED, 'interrupted'],
    ] as const) {
      await t.finish(await t.claimAgain(lease), transition, { outcome })
      await t.jobIs(lease.id, { attempt: 1 })
    }
    assert.equal((await t.claimAgain(lease)).attempt, 2)
  }),
  test('a job that is dead without having run is refunded if requested, and its attempt is recorded anyway', async (t) => {
    const [never, once, asked] = await t.runningJobs(3)
    await t.finish(never, { to: 'dead', refund: true }, { error: 'no handler' })
    await t.jobIs(never.id, { state: 'dead', attempt: 0 })
    const [recorded] = await t.store.history(never.id)
    hasFields(recorded, { attempt: 1, outcome: 'failed-permanently', error: 'no handler' })
    await t.finish(once, later(0))
    await t.finish(await t.claimAgain(once), { to: 'dead', refund: false })
    await t.jobIs(once.id, { attempt: 2 })
    await t.store.cancel([asked.id], 'stop it')
    assert.equal((await t.finish(asked, { to: 'dead', refund: true })).state, 'cancelled')
    await t.jobIs(asked.id, { attempt: 0 })
    await t.countsAreExact()
  }),
  test('every outcome is recorded with its attempt, oldest first; a null outcome is not', async (t) => {
    const lease = await t.running()
    const instance = await t.worker({ leaseMs: HOUR })
    await t.finish(lease, RELEASED)
    const tokens: number[] = []
    for (const outcome of OUTCOMES) {
      const one = await t.claimOne(instance, { kinds: [lease.kind] })
      tokens.push(one.token)
      t.clock.advance(100)
      await t.finish(one, later(0), { outcome, error: `because ${outcome}` })
    }
    const history = await t.store.history(lease.id)
    assert.deepEqual(
      pluck(history, 'outcome', 'error', 'token', 'attempt'),
      OUTCOMES.map((outcome, n) => [outcome, `because ${outcome}`, tokens[n], n + 1]),
    )
    const now = t.clock.now()
    hasFields(history.at(-1), { instance, startedAt: now - 100, endedAt: now })
  }),
  test('P9 an attempt started as long before its end as it ran, never before the claim', async (t) => {
    const times: (number | null | undefined)[] = []
    const claimedAt = t.clock.now()
    const leases = await t.runningJobs(4)
    t.clock.advance(1_000)
    for (const [n, lease] of leases.entries()) {
      await t.finish(lease, DONE, { ranMs: [undefined, 0, 400, HOUR][n] })
      times.push((await t.store.history(lease.id))[0]?.startedAt)
    }
    assert.deepEqual(times, [claimedAt, t.clock.now(), t.clock.now() - 400, claimedAt])
  }),
  test('the newest 32 attempts are kept', async (t) => {
    const lease = await t.running()
    const instance = await t.worker()
    await t.finish(lease, later(0), { error: '1' })
    for (let n = 2; n <= 40; n += 1) {
      await t.finish(await t.claimOne(instance, { kinds: [lease.kind] }), later(0), { error: `${n}` })
    }
    const errors = Array.from({ length: 32 }, (_, n) => `${n + 9}`)
    assert.deepEqual(pluck(await t.store.history(lease.id), 'error'), errors)
    await t.store.cancel([lease.id], 'no')
    assert.deepEqual(pluck(await t.store.history(lease.id), 'error'), [...errors.slice(1), 'no'])
  }),
  test('P8 a requested cancel wins over every transition but done', async (t) => {
    for (const transition of [later(0), later(HOUR), later(0, { refund: true }), RELEASED, DEAD]) {
      const lease = await t.running()
      await t.store.cancel([lease.id], 'stop it')
      const more = { outcome: 'failed', error: 'other', followUps: [aJob()] } as const
      const reply = await t.finish(lease, transition, more)
      assert.deepEqual([reply.accepted, reply.state, reply.followUps], [true, 'cancelled', []])
      await t.jobIs(lease.id, { state: 'cancelled', error: 'stop it', endedAt: t.clock.now() })
      await t.historyIs(lease.id, [['cancelled', 'stop it']])
    }
    await t.countsAreExact()
  }),
  test('P8 work that is done stays done although a cancel was requested', async (t) => {
    const lease = await t.running()
    await t.store.cancel([lease.id], 'stop it')
    assert.equal((await t.finish(lease, { to: 'done', result: '1' })).state, 'done')
    await t.jobIs(lease.id, { state: 'done', result: '1', cancelReason: null, error: null })
    await t.historyIs(lease.id, [['returned', null]])
  }),
  test('P2 P3 items of one call are independent: stale ones are refused, the others written, in order', async (t) => {
    const [stale, one, two, repeated] = await t.runningJobs(4)
    await t.finish(stale, RELEASED)
    await t.finish(repeated, DONE)
    const items = [two, stale, one, one, repeated].map((lease) => aFinish(lease, DONE))
    const replies = await t.store.finish(items)
    assert.deepEqual(pluck(replies, 'id'), pluck(items, 'id'))
    assert.deepEqual(pluck(replies, 'accepted'), [true, false, true, true, true])
    assert.deepEqual(pluck(replies, 'state'), ['done', null, 'done', 'done', 'done'])
    await t.countsAre({ ready: 1, done: 3 })
    for (const { id } of [one, two]) assert.equal((await t.store.history(id)).length, 1)
    assert.deepEqual(await t.store.finish([]), [])
  }),
  test('P3 a full batch of mixed endings is written as one', async (t) => {
    await t.store.enqueue(Array.from({ length: 250 }, (_, n) => aJob({ payload: n })))
    const leases = await t.claim(await t.worker())
    const transitions = [{ to: 'done', result: '{"r":1}' }, later(HOUR), later(0), RELEASED, DEAD] as const
    const replies = await t.store.finish(leases.map((lease, n) => aFinish(lease, transitions[n % 5] ?? DONE)))
    assert.ok(replies.every(({ accepted }) => accepted))
    assert.deepEqual(pluck(replies.slice(0, 5), 'state'), ['done', 'scheduled', 'ready', 'ready', 'dead'])
    await t.countsAre({ done: 50, scheduled: 50, ready: 100, dead: 50 })
    // Released jobs keep their positions. Jobs retried at once come after them.
    const order = [3, 2].flatMap((rest) => leases.filter((_, n) => n % 5 === rest).map(({ id }) => id))
    assert.deepEqual(await t.claimIds(await t.worker()), order)
  }),
]
