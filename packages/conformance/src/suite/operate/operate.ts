/** cancel, retry, run now and delete, from any process, and the whole table of verbs and states. */
import assert from 'node:assert/strict'
import { type FullStore, JOB_STATES, type JobState, type Verdict } from 'jobmill/store'
import { aJob, DEAD, DONE, HOUR, later, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, isVerdict, pluck } from '../looks.ts'

type Act = (store: FullStore, ids: readonly string[]) => Promise<Verdict[]>

const VERBS = {
  cancel: (store, ids) => store.cancel(ids, 'no'),
  'run now': (store, ids) => store.runNow(ids),
  retry: (store, ids) => store.retry(ids),
  delete: (store, ids) => store.delete(ids),
} as const satisfies Record<string, Act>

type Cell = readonly [Verdict['verdict'], JobState | null]
const cancelled: Cell = ['changed', 'cancelled']
const ready: Cell = ['changed', 'ready']
const gone: Cell = ['changed', null]

/** The result of each verb in each state. In the other states it is refused, and the job stays unchanged. */
const TABLE: Readonly<Record<string, Readonly<Partial<Record<JobState, Cell>>>>> = {
  cancel: {
    scheduled: cancelled,
    ready: cancelled,
    running: ['changed', 'running'],
    cancelled: ['unchanged', 'cancelled'],
  },
  'run now': { scheduled: ready, ready: ['unchanged', 'ready'] },
  retry: { dead: ready, cancelled: ready },
  delete: { scheduled: gone, ready: gone, done: gone, dead: gone, cancelled: gone },
}

const tableCases = Object.entries(VERBS).flatMap(([name, act]) =>
  JOB_STATES.map((state): Case => {
    const [verdict, to] = TABLE[name]?.[state] ?? ['refused', state]
    return test(`${name === 'cancel' ? 'P8 ' : ''}${name} of a ${state} job: ${verdict}, then ${to ?? 'gone'}`, async (t) => {
      const id = await t.jobIn(state)
      const ask = (): Promise<Verdict[]> => act(t.store, [id])
      isVerdict(only(await (verdict === 'changed' ? ask() : t.changesNothing(ask))), verdict, to)
      await t.statesAre([id], [to])
      await t.countsAre(to === null ? {} : { [to]: 1 })
    })
  }),
)

export const operateCases: readonly Case[] = [
  test('P8 a waiting job is cancelled at once, with the reason in its history', async (t) => {
    for (const state of ['scheduled', 'ready'] as const) {
      const id = await t.jobIn(state)
      t.clock.advance(5)
      isVerdict(only(await t.store.cancel([id], 'not needed')), 'changed', 'cancelled')
      const ended = { error: 'not needed', endedAt: t.clock.now() }
      await t.jobIs(id, { ...ended, state: 'cancelled', dueAt: null, cancelReason: null })
      const { token: _, ...attempt } = only(await t.store.history(id))
      const never = { attempt: 0, instance: null, version: null, startedAt: null, log: null }
      assert.deepEqual(attempt, { ...never, ...ended, outcome: 'cancelled' })
    }
  }),
  test('P8 a job between attempts is cancelled with its current attempt number', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(HOUR), { error: 'first' })
    await t.store.cancel([lease.id], 'enough')
    await t.historyIs(lease.id, [
      ['failed', 'first'],
      ['cancelled', 'enough'],
    ])
    assert.deepEqual(pluck(await t.store.history(lease.id), 'attempt'), [1, 1])
  }),
  test('P8 a cancelled job is never claimed nor staged', async (t) => {
    await t.store.cancel([await t.jobIn('scheduled'), await t.jobIn('ready')], 'no')
    t.clock.advance(HOUR)
    assert.equal((await t.store.stage(10)).ready, 0)
    assert.deepEqual(await t.claim(await t.worker()), [])
    await t.countsAre({ cancelled: 2 })
  }),
  test('P8 a running job keeps running; its instance is notified through any handle, and no other is', async (t) => {
    const { id, token, instance } = await t.running()
    const bystander = await t.worker()
    const other = await t.another()
    isVerdict(only(await other.cancel([id], 'stop it')), 'changed', 'running')
    await t.jobIs(id, { state: 'running', cancelReason: 'stop it', instance })
    for (let n = 0; n < 2; n += 1)
      assert.deepEqual((await t.renew(instance)).cancels, [{ id, token, reason: 'stop it' }])
    assert.deepEqual((await t.renew(bystander)).cancels, [])
  }),
  test('P8 a second request on a running job is unchanged and keeps the first reason', async (t) => {
    const { id } = await t.running()
    await t.store.cancel([id], 'first')
    isVerdict(only(await t.changesNothing(() => t.store.cancel([id], 'second'))), 'unchanged', 'running')
    await t.jobIs(id, { cancelReason: 'first' })
  }),
  test('P8 the request survives the crash of the instance', async (t) => {
    const { id } = await t.running()
    await t.store.cancel([id], 'stop it')
    const { jobs } = await t.crash()
    assert.equal(only(jobs).state, 'cancelled')
    await t.jobIs(id, { state: 'cancelled' })
    // The crash interrupted the attempt. The cancel only decided the next state of the job.
    await t.historyIs(id, [['interrupted', 'stop it']])
    assert.equal((await t.store.stage(10)).ready, 0)
    await t.countsAreExact()
  }),
  test('P6 P8 the request survives the graceful stop of the instance', async (t) => {
    const { id, instance } = await t.running()
    await t.store.cancel([id], 'stop it')
    assert.equal(await t.store.instances.deregister(instance), 1)
    await t.jobIs(id, { state: 'cancelled', error: 'stop it' })
    await t.historyIs(id, [['cancelled', 'stop it']])
  }),
  test('P8 a request ends with the attempt: a retried job starts clean', async (t) => {
    const lease = await t.running()
    await t.store.cancel([lease.id], 'stop it')
    await t.finish(lease, later(0))
    await t.store.retry([lease.id])
    const again = await t.claimAgain(lease)
    await t.jobIs(lease.id, { cancelReason: null })
    assert.deepEqual((await t.renew(again.instance)).cancels, [])
    assert.equal((await t.finish(again, DONE)).state, 'done')
  }),
  test('P8 an id twice in one call is processed in order', async (t) => {
    const [ready, running] = [await t.jobIn('ready'), await t.jobIn('running')]
    const verdicts = await t.store.cancel([ready, running, ready, running], 'no')
    assert.deepEqual(pluck(verdicts, 'id'), [ready, running, ready, running])
    assert.deepEqual(pluck(verdicts, 'verdict'), ['changed', 'changed', 'unchanged', 'unchanged'])
    assert.deepEqual(pluck(verdicts, 'state'), ['cancelled', 'running', 'cancelled', 'running'])
    assert.equal((await t.store.history(ready)).length, 1)
  }),
  test('P8 concurrent cancels from several handles: one changes the job, the others find it cancelled', async (t) => {
    const stores = await t.handles(3)
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const id = await t.jobIn(state)
      const verdicts = (await Promise.all(stores.map((each) => each.cancel([id], 'no')))).flat()
      assert.deepEqual(pluck(verdicts, 'verdict').toSorted(), ['changed', 'unchanged', 'unchanged'], state)
      assert.equal((await t.store.history(id)).length, state === 'running' ? 0 : 1)
    }
    await t.countsAreExact()
  }),
  test('a job that is cancelled and retried repeatedly keeps 32 attempts', async (t) => {
    const id = await t.enqueue()
    for (let round = 0; round < 40; round += 1) {
      await t.store.cancel([id], `round ${round}`)
      await t.store.retry([id])
    }
    const history = await t.store.history(id)
    assert.deepEqual([history.length, history.at(-1)?.error], [32, 'round 39'])
  }),
  ...tableCases,
  test('every verb answers unknown for a missing job, in the order requested', async (t) => {
    for (const act of Object.values(VERBS)) {
      const [there, unknown] = [await t.enqueue({ delay: HOUR }), aJob().id]
      const verdicts = await act(t.store, [unknown, there, unknown])
      assert.deepEqual(pluck(verdicts, 'id'), [unknown, there, unknown])
      isVerdict(verdicts[0], 'unknown', null)
      isVerdict(verdicts[2], 'unknown', null)
      assert.notEqual(verdicts[1]?.verdict, 'unknown')
      assert.deepEqual(await act(t.store, []), [])
    }
  }),
  test('P5 a retried job starts over with attempt and crashes at 0, behind the others, history kept', async (t) => {
    const first = await t.running({ kind: 'work' })
    await t.crash()
    await t.finish(await t.claimOne(await t.worker()), DEAD, { error: 'why' })
    await t.jobIs(first.id, { attempt: 1, crashes: 1, state: 'dead' })
    const other = await t.enqueue()
    t.clock.advance(5)
    isVerdict(only(await t.store.retry([first.id])), 'changed', 'ready')
    await t.jobIs(first.id, { attempt: 0, crashes: 0, endedAt: null, state: 'ready', dueAt: null })
    assert.equal((await t.store.history(first.id)).length, 2)
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'id'), [other, first.id])
    hasFields(leases[1], { attempt: 1, readyAt: t.clock.now() })
  }),
  test('a retry takes back the dedupe key', async (t) => {
    const dead = await t.jobIn('dead', { dedupe: { key: 'k' } })
    await t.store.retry([dead])
    const asked = await t.store.enqueue([aJob({ dedupe: { key: 'k' } })])
    assert.deepEqual(asked, [{ id: dead, outcome: 'duplicate' }])
  }),
  test('a retry is refused with the holder while another job holds the dedupe key', async (t) => {
    const dead = await t.jobIn('dead', { dedupe: { key: 'k' } })
    const holder = await t.enqueue({ dedupe: { key: 'k', holdFor: 1_000 } })
    const refuses = async (): Promise<void> => {
      const verdict = only(await t.changesNothing(() => t.store.retry([dead])))
      isVerdict(verdict, 'refused', 'dead', holder)
    }
    await refuses()
    await t.finish(await t.claimOne(await t.worker()), DONE)
    await refuses()
    await t.store.delete([holder])
    await refuses()
    t.clock.advance(1_001)
    isVerdict(only(await t.store.retry([dead])), 'changed', 'ready')
  }),
  test('two jobs of one dedupe key retried in one call: the first gets it, the second is refused', async (t) => {
    const dedupe = { key: 'k' }
    const [one, two] = [await t.jobIn('dead', { dedupe }), await t.jobIn('dead', { dedupe })]
    const [first, second] = await t.store.retry([one, two])
    isVerdict(first, 'changed', 'ready')
    isVerdict(second, 'refused', 'dead', one)
  }),
  test('ids twice in one call are processed in order', async (t) => {
    const dead = await t.jobIn('dead')
    assert.deepEqual(pluck(await t.store.retry([dead, dead]), 'verdict'), ['changed', 'refused'])
    const waiting = await t.enqueue({ delay: HOUR })
    assert.deepEqual(pluck(await t.store.runNow([waiting, waiting]), 'verdict'), ['changed', 'unchanged'])
    assert.deepEqual(pluck(await t.store.delete([waiting, waiting]), 'verdict'), ['changed', 'unknown'])
  }),
  test('run now makes a job ready behind the others, in the order of the call', async (t) => {
    const [one, two] = [await t.enqueue({ delay: HOUR }), await t.enqueue({ delay: 2 * HOUR })]
    const ready = await t.enqueue()
    t.clock.advance(5)
    await t.store.runNow([two, one])
    await t.jobIs(one, { dueAt: null, attempt: 0 })
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'id'), [ready, two, one])
    assert.equal(leases[1]?.readyAt, t.clock.now())
  }),
  test('run now of a job between attempts keeps its attempts', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(HOUR))
    await t.store.runNow([lease.id])
    assert.equal((await t.claimAgain(lease)).attempt, 2)
  }),
  test('delete removes the job with its history and tags, and its id is unused again', async (t) => {
    const id = await t.jobIn('dead', { tags: ['t'] })
    await t.store.delete([id])
    assert.deepEqual(await t.store.get([id]), [null])
    assert.deepEqual(await t.store.history(id), [])
    assert.deepEqual(await t.idsOf({ tags: ['t'] }), [])
    await t.store.enqueue([aJob({ id, payload: 'new' })], { mayRepeat: true })
    await t.jobIs(id, { state: 'ready', tags: [], payload: '"new"', attempt: 0 })
    assert.deepEqual(await t.store.history(id), [])
  }),
  test('concurrent retries, run nows and deletes from several handles change each job once', async (t) => {
    const stores = await t.handles(3)
    const states = { retry: 'dead', 'run now': 'scheduled', delete: 'done' } as const
    for (const verb of ['retry', 'run now', 'delete'] as const) {
      const state = states[verb]
      const ids = await Promise.all([t.jobIn(state), t.jobIn(state), t.jobIn(state)])
      // Each handle uses a different order, so that a store that locks rows one by one would deadlock.
      const calls = stores.map((each, n) => VERBS[verb](each, [...ids.slice(n), ...ids.slice(0, n)]))
      const verdicts = (await Promise.all(calls)).flat()
      const changed = verdicts.filter(({ verdict }) => verdict === 'changed')
      assert.deepEqual(pluck(changed, 'id').toSorted(), ids.toSorted(), verb)
    }
    await t.countsAreExact()
  }),
]
