/** retry, run now and delete, and the whole table of verbs and states. */
import assert from 'node:assert/strict'
import { type FullStore, JOB_STATES, type JobState, type Verdict } from 'jobmill/store'
import { aJob } from '../../factories.ts'
import { DEAD, DONE, HOUR, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, changesNothing, countsAreExact, countsOf, isVerdict } from '../looks.ts'

const VERBS: Readonly<Record<string, (store: FullStore, ids: readonly string[]) => Promise<Verdict[]>>> = {
  cancel: (store, ids) => store.cancel(ids, 'no'),
  'run now': (store, ids) => store.runNow(ids),
  retry: (store, ids) => store.retry(ids),
  delete: (store, ids) => store.delete(ids),
}

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
      const { store, jobIn } = t
      const id = await jobIn(state)
      const ask = (): Promise<Verdict[]> => act(store, [id])
      isVerdict(only(await (verdict === 'changed' ? ask() : changesNothing(store, ask))), verdict, to)
      assert.equal((await store.get([id]))[0]?.state ?? null, to)
      assert.deepEqual(await countsOf(store), to === null ? {} : { [to]: 1 })
    })
  }),
)

export const operateCases: readonly Case[] = [
  ...tableCases,
  test('every verb answers unknown for a missing job, in the order requested', async ({ store, enqueue }) => {
    for (const act of Object.values(VERBS)) {
      const [there, unknown] = [await enqueue({ delay: HOUR }), aJob().id]
      const verdicts = await act(store, [unknown, there, unknown])
      assert.deepEqual(pluck(verdicts, 'id'), [unknown, there, unknown])
      isVerdict(verdicts[0], 'unknown', null)
      isVerdict(verdicts[2], 'unknown', null)
      assert.notEqual(verdicts[1]?.verdict, 'unknown')
      assert.deepEqual(await act(store, []), [])
    }
  }),
  test('P5 a retried job starts over with attempt and crashes at 0, behind the others, history kept', async (t) => {
    const { store, clock, running, finish, claimOne, claim, worker, enqueue, crash, jobIs } = t
    const first = await running({ kind: 'work' })
    await crash()
    await finish(await claimOne(await worker()), DEAD, { error: 'why' })
    await jobIs(first.id, { attempt: 1, crashes: 1, state: 'dead' })
    const other = await enqueue()
    clock.advance(5)
    isVerdict(only(await store.retry([first.id])), 'changed', 'ready')
    await jobIs(first.id, { attempt: 0, crashes: 0, endedAt: null, state: 'ready', dueAt: null })
    assert.equal((await store.history(first.id)).length, 2)
    const leases = await claim(await worker())
    assert.deepEqual(pluck(leases, 'id', 'attempt'), [
      [other, 1],
      [first.id, 1],
    ])
    assert.equal(leases[1]?.readyAt, clock.now())
  }),
  test('a retry takes back the dedupe key', async ({ store, jobIn }) => {
    const dead = await jobIn('dead', { dedupe: { key: 'k' } })
    await store.retry([dead])
    const [reply] = await store.enqueue([aJob({ dedupe: { key: 'k' } })])
    assert.deepEqual(reply, { id: dead, outcome: 'duplicate' })
  }),
  test('a retry is refused with the holder while another job holds the dedupe key', async (t) => {
    const { store, clock, jobIn, enqueue, finish, claimOne, worker } = t
    const dead = await jobIn('dead', { dedupe: { key: 'k' } })
    const holder = await enqueue({ dedupe: { key: 'k', holdFor: 1_000 } })
    const refuses = async (): Promise<void> => {
      const verdict = only(await changesNothing(store, () => store.retry([dead])))
      isVerdict(verdict, 'refused', 'dead', holder)
    }
    await refuses()
    await finish(await claimOne(await worker()), DONE)
    await refuses()
    await store.delete([holder])
    await refuses()
    clock.advance(1_001)
    isVerdict(only(await store.retry([dead])), 'changed', 'ready')
  }),
  test('two jobs of one dedupe key retried in one call: the first gets it, the second is refused', async (t) => {
    const { store, jobIn } = t
    const [one, two] = [
      await jobIn('dead', { dedupe: { key: 'k' } }),
      await jobIn('dead', { dedupe: { key: 'k' } }),
    ]
    const [first, second] = await store.retry([one, two])
    isVerdict(first, 'changed', 'ready')
    isVerdict(second, 'refused', 'dead', one)
  }),
  test('ids twice in one call are processed in order', async ({ store, jobIn, enqueue }) => {
    const dead = await jobIn('dead')
    assert.deepEqual(pluck(await store.retry([dead, dead]), 'verdict'), ['changed', 'refused'])
    const waiting = await enqueue({ delay: HOUR })
    assert.deepEqual(pluck(await store.runNow([waiting, waiting]), 'verdict'), ['changed', 'unchanged'])
    assert.deepEqual(pluck(await store.delete([waiting, waiting]), 'verdict'), ['changed', 'unknown'])
  }),
  test('run now makes a job ready behind the others, in the order of the call', async (t) => {
    const { store, clock, enqueue, worker, claim, jobIs } = t
    const [one, two] = [await enqueue({ delay: HOUR }), await enqueue({ delay: 2 * HOUR })]
    const ready = await enqueue()
    clock.advance(5)
    await store.runNow([two, one])
    await jobIs(one, { dueAt: null, attempt: 0 })
    const leases = await claim(await worker())
    assert.deepEqual(pluck(leases, 'id'), [ready, two, one])
    assert.equal(leases[1]?.readyAt, clock.now())
  }),
  test('run now of a job between attempts keeps its attempts', async (t) => {
    const { store, running, finish, claimAgain } = t
    const lease = await running()
    await finish(lease, later(HOUR))
    await store.runNow([lease.id])
    assert.equal((await claimAgain(lease)).attempt, 2)
  }),
  test('delete removes the job with its history and tags, and its id is unused again', async (t) => {
    const { store, jobIn, jobIs } = t
    const id = await jobIn('dead', { tags: ['t'] })
    await store.delete([id])
    assert.deepEqual(await store.get([id]), [null])
    assert.deepEqual(await store.history(id), [])
    assert.deepEqual((await store.list({ tags: ['t'] }, { limit: 10 })).jobs, [])
    await store.enqueue([aJob({ id, payload: 'new' })], { mayRepeat: true })
    await jobIs(id, { state: 'ready', tags: [], payload: '"new"', attempt: 0 })
    assert.deepEqual(await store.history(id), [])
  }),
  test('concurrent retries, run nows and deletes from several handles change each job once', async (t) => {
    const { store, another, jobIn } = t
    const stores = [store, await another(), await another()]
    for (const [verb, state] of [
      ['retry', 'dead'],
      ['run now', 'scheduled'],
      ['delete', 'done'],
    ] as const) {
      const ids = await Promise.all([jobIn(state), jobIn(state), jobIn(state)])
      const replies = await Promise.all(
        // Each handle uses another order, so that a store that locks rows one by one would deadlock.
        stores.map(async (each, n) => VERBS[verb]?.(each, [...ids.slice(n), ...ids.slice(0, n)])),
      )
      const changed = replies.flatMap((reply) => reply ?? []).filter(({ verdict }) => verdict === 'changed')
      assert.deepEqual(changed.map(({ id }) => id).toSorted(), ids.toSorted(), verb)
    }
    await countsAreExact(store)
  }),
]
