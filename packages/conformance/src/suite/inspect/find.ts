/** Finds jobs by their last error and by values in their payloads. */
import assert from 'node:assert/strict'
import type { PayloadAt } from 'jobmill/store'
import { DEAD, DONE, HOUR, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { again } from './failures.ts'
import { idsOf } from '../looks.ts'

const ODD_KEY = `it's "a.b" \\ $[0] é\n%_`
const ODD_TEXT = `50% of_it's \\ "so"\tü '; --`

/** A payload, and the values to find in it. */
const PAYLOADS: readonly [unknown, readonly (readonly [readonly string[], string])[]][] = [
  [
    { user: { id: 42, name: 'anna' } },
    [
      [['user', 'id'], '42'],
      [['user', 'name'], 'anna'],
    ],
  ],
  [
    { user: { id: '0042', ok: true, not: false, none: null } },
    [
      [['user', 'id'], '0042'],
      [['user', 'ok'], 'true'],
      [['user', 'not'], 'false'],
      [['user', 'none'], 'null'],
    ],
  ],
  [
    { [ODD_KEY]: { '': ODD_TEXT, '-1': 'minus', ' 1': 'space' } },
    [
      [[ODD_KEY, ''], ODD_TEXT],
      [[ODD_KEY, '-1'], 'minus'],
      [[ODD_KEY, ' 1'], 'space'],
    ],
  ],
  [
    { items: [{ sku: 'a' }, { sku: 'b' }, [[7]]], '1': 'key' },
    [
      [['items', '1', 'sku'], 'b'],
      [['items', '2', '0', '0'], '7'],
      [['1'], 'key'],
    ],
  ],
  [
    ['first', 0.1 + 0.2, 1e21, -1.5e-7, 9_007_199_254_740_991],
    [
      [['0'], 'first'],
      [['1'], '0.30000000000000004'],
      [['2'], '1e+21'],
      [['3'], '-1.5e-7'],
      [['4'], '9007199254740991'],
    ],
  ],
  [
    { text: '', deep: { text: 'null' } },
    [
      [['text'], ''],
      [['deep', 'text'], 'null'],
    ],
  ],
]

/** Values that no payload contains. */
const NOWHERE: readonly (readonly [readonly string[], string])[] = [
  [['user', 'id'], '42.0'],
  [['user', 'id'], '4'],
  [['user', 'name'], 'Anna'],
  [['user', 'name'], '"anna"'],
  [['user', 'name', '0'], 'a'],
  [['user'], '{"id":42,"name":"anna"}'],
  [['items', '0'], '{"sku":"a"}'],
  [['items', '-1', '0', '0'], '7'],
  [['items', '01', 'sku'], 'b'],
  [['items', ' 1', 'sku'], 'b'],
  [['items', '+1', 'sku'], 'b'],
  [['items', 'length'], '3'],
  [['items', '99999999999999999999'], 'b'],
  [['items', '2'], '[[7]]'],
  [['missing'], 'null'],
  [['user', 'missing', 'id'], '42'],
  [['0', '0'], 'f'],
  [[''], 'scalar'],
  [['constructor', 'name'], 'Object'],
]

const only = (path: readonly string[], value: string): { payloadAt: PayloadAt[] } => ({
  payloadAt: [{ path, value }],
})

export const findCases: readonly Case[] = [
  test('several queues and kinds: jobs of any of them, each once, in the order of the listing', async (t) => {
    const { store } = t
    const made: { id: string; queue: string; kind: string }[] = []
    for (const queue of ['q1', 'q2', 'q3'])
      for (const kind of ['a', 'b', 'c']) made.push({ id: await t.enqueue({ queue, kind }), queue, kind })
    const [queues, kinds] = [
      ['q1', 'q3', 'q1', 'none'],
      ['c', 'a'],
    ]
    const sought = (queue: readonly string[], kind: readonly string[]): string[] =>
      made.flatMap((one) => (queue.includes(one.queue) && kind.includes(one.kind) ? [one.id] : []))
    for (const limit of [500, 2, 1]) {
      const both = { queue: queues, kind: kinds }
      assert.deepEqual(await idsOf(store, { ...both, state: 'ready' }, limit), sought(queues, kinds))
      assert.deepEqual(await idsOf(store, both, limit), sought(queues, kinds).toReversed())
      assert.deepEqual(
        await idsOf(store, { queue: ['none', 'q2'] }, limit),
        sought(['q2'], ['c', 'b', 'a']).toReversed(),
      )
    }
    assert.deepEqual(await idsOf(store, { kind: ['none', 'neither'] }), [])
  }),
  test('retrying: jobs whose last attempt failed; scheduled ones wait for a retry', async (t) => {
    const { store } = t
    const [failed, late, snoozed, ready, dead] = await t.runningJobs(5)
    await t.enqueue({ delay: HOUR })
    await t.finish(failed, later(HOUR), { error: 'no' })
    await t.finish(late, later(2 * HOUR), { error: 'slow', outcome: 'timed-out' })
    await t.finish(snoozed, later(HOUR), { outcome: 'snoozed' })
    await t.finish(ready, later(0), { error: 'no' })
    await t.finish(dead, DEAD, { error: 'no' })
    for (const limit of [500, 1])
      assert.deepEqual(await idsOf(store, { state: 'scheduled', retrying: true }, limit), [
        failed.id,
        late.id,
      ])
    assert.deepEqual(await idsOf(store, { state: 'ready', retrying: true }), [ready.id])
    assert.equal((await idsOf(store, { state: 'scheduled', retrying: false })).length, 4)
    assert.equal((await idsOf(store, { retrying: true, kind: failed.kind })).length, 1)
  }),
  test('end times: only ended jobs, from and before by the clock of the database', async (t) => {
    const { store, clock } = t
    for (const state of ['done', 'dead', 'cancelled'] as const) {
      const ids: string[] = []
      const began = clock.now()
      for (let n = 0; n < 6; n += 1) {
        ids.unshift(await t.jobIn(state))
        clock.advance(10)
      }
      const range = { endedFrom: began + 10, endedBefore: began + 40 }
      for (const limit of [500, 2, 1]) {
        assert.deepEqual(await idsOf(store, { state, ...range }, limit), ids.slice(2, 5))
        assert.deepEqual(await idsOf(store, { state, endedFrom: began + 40 }, limit), ids.slice(0, 2))
      }
      const all = await idsOf(store, range)
      assert.deepEqual(all.toSorted(), ids.slice(2, 5).toSorted())
    }
    await t.enqueue()
    assert.deepEqual(await idsOf(store, { state: 'ready', endedBefore: clock.now() + HOUR }), [])
  }),
  test('filters by values in the payload: the value at the path, as text', async ({ store, enqueue }) => {
    const ids: string[] = []
    for (const [payload] of PAYLOADS) ids.push(await enqueue({ payload }))
    for (const payload of ['scalar', 7, null, true, [], {}]) await enqueue({ payload })
    for (const [n, [, expected]] of PAYLOADS.entries())
      for (const [path, value] of expected)
        assert.deepEqual(await idsOf(store, only(path, value)), [ids[n]], JSON.stringify([path, value]))
    for (const [path, value] of NOWHERE)
      assert.deepEqual(await idsOf(store, only(path, value)), [], JSON.stringify([path, value]))
  }),
  test('several payload values and other filters must all match', async ({ store, enqueue }) => {
    const both = await enqueue({ payload: { a: 1, b: 'x' }, tags: ['t'] })
    const one = await enqueue({ payload: { a: 1, b: 'y' }, delay: HOUR })
    const [a, b] = [
      { path: ['a'], value: '1' },
      { path: ['b'], value: 'x' },
    ]
    assert.deepEqual(await idsOf(store, { payloadAt: [a] }, 1), [one, both])
    assert.deepEqual(await idsOf(store, { payloadAt: [a, b] }), [both])
    assert.deepEqual(await idsOf(store, { payloadAt: [] }), [one, both])
    assert.deepEqual(await idsOf(store, { payloadAt: [a], state: 'ready' }), [both])
    assert.deepEqual(await idsOf(store, { payloadAt: [a], state: 'scheduled', payloadText: '"y"' }), [one])
    assert.deepEqual(await idsOf(store, { payloadAt: [b], tags: ['t'], errorText: 'x' }), [])
  }),
  test('filters by a text in the last error, literally, and never finds done jobs', async (t) => {
    const { store, clock } = t
    const odd = `Error: 50% of_it's \\ "so" é\n  caused by: Missing`
    const [dead, waits, healed, runs, notKept] = await t.runningJobs(5)
    await t.finish(dead, DEAD, { error: odd })
    await t.finish(waits, later(HOUR), { error: 'Error: of_it' })
    await t.finish(healed, later(0), { error: odd })
    await again(t, healed.kind, DONE, null)
    await t.finish(runs, later(0), { error: 'first' })
    await again(t, runs.kind, later(0), 'second')
    await t.claimAgain(runs)
    await t.finish(notKept, DONE, { error: 'Missing' })
    await t.enqueue({ payload: 'Missing' })
    for (const limit of [500, 1]) {
      assert.deepEqual(await idsOf(store, { errorText: 'of_it' }, limit), [waits.id, dead.id])
      assert.deepEqual(await idsOf(store, { errorText: `50% of_it's \\ "so" é\n` }, limit), [dead.id])
    }
    assert.deepEqual(await idsOf(store, { errorText: 'Missing' }), [dead.id])
    assert.deepEqual(await idsOf(store, { errorText: 'Missing', state: 'done' }), [])
    assert.deepEqual(await idsOf(store, { errorText: 'missing' }), [])
    assert.deepEqual(await idsOf(store, { errorText: 'of_it', state: 'scheduled' }), [waits.id])
    assert.deepEqual(await idsOf(store, { errorText: 'first' }), [])
    assert.deepEqual(await idsOf(store, { errorText: 'second', state: 'running' }), [runs.id])
    await store.retry([dead.id])
    assert.deepEqual(await idsOf(store, { errorText: 'Missing', state: 'ready' }), [dead.id])
    clock.advance(HOUR)
    await store.stage(10)
    assert.deepEqual(await idsOf(store, { errorText: 'of_it', state: 'ready' }), [dead.id, waits.id])
  }),
]
