/** Finding jobs by their last error and by values in their payloads. */
import assert from 'node:assert/strict'
import type { PayloadAt } from '../../store/payload-at.ts'
import { DEAD, DONE, HOUR, later } from './bench.ts'
import type { Case } from './case.ts'
import { again } from './failures.ts'
import { idsOf, rejectsWith } from './looks.ts'

const ODD_KEY = `it's "a.b" \\ $[0] é\n%_`
const ODD_TEXT = `50% of_it's \\ "so"\tü '; --`

/** A payload, and what is there to be found. */
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

/** Nothing has these. */
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
  {
    name: 'filters by values in the payload: what is at the path, as it reads there',
    async run({ store, enqueue }) {
      const ids: string[] = []
      for (const [payload] of PAYLOADS) ids.push(await enqueue({ payload }))
      for (const payload of ['scalar', 7, null, true, [], {}]) await enqueue({ payload })
      for (const [n, [, found]] of PAYLOADS.entries())
        for (const [path, value] of found)
          assert.deepEqual(await idsOf(store, only(path, value)), [ids[n]], JSON.stringify([path, value]))
      for (const [path, value] of NOWHERE)
        assert.deepEqual(await idsOf(store, only(path, value)), [], JSON.stringify([path, value]))
    },
  },
  {
    name: 'several values in the payload, and other filters beside them, have to fit together',
    async run({ store, enqueue }) {
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
    },
  },
  {
    name: 'values in the payload that cannot be looked for are refused',
    async run({ store }) {
      const wrong: unknown[] = [
        Array.from({ length: 6 }, () => ({ path: ['a'], value: '1' })),
        [{ path: [], value: '1' }],
        [{ path: Array.from({ length: 17 }, () => 'a'), value: '1' }],
        [{ path: ['a'], value: 1 }],
        [{ path: [0], value: '1' }],
        [{ path: ['a'], value: 'x'.repeat(1_001) }],
        [{ path: ['\u0000'], value: '1' }],
        [{ path: ['a'], value: '\uD800' }],
        'a:1',
      ]
      for (const payloadAt of wrong)
        await rejectsWith('OPTION_INVALID', () =>
          store.list({ payloadAt: payloadAt as PayloadAt[] }, { limit: 1 }),
        )
      for (const errorText of ['', 'x'.repeat(1_001), '\u0000', 7 as unknown as string])
        await rejectsWith('OPTION_INVALID', () => store.list({ errorText }, { limit: 1 }))
    },
  },
  {
    name: 'filters by a text in the last error, letter for letter, and never finds done jobs',
    async run(t) {
      const { store, clock } = t
      const odd = `Error: 50% of_it's \\ "so" é\n  caused by: Nobody`
      const [dead, waits, healed, runs, notKept] = [
        await t.running(),
        await t.running(),
        await t.running(),
        await t.running(),
        await t.running(),
      ]
      await t.finish(dead, DEAD, { error: odd })
      await t.finish(waits, later(HOUR), { error: 'Error: of_it' })
      await t.finish(healed, later(0), { error: odd })
      await again(t, healed.kind, DONE, null)
      await t.finish(runs, later(0), { error: 'first' })
      await again(t, runs.kind, later(0), 'second')
      await t.claimOne(await t.worker(), { kinds: [runs.kind] })
      await t.finish(notKept, DONE, { error: 'Nobody' })
      await t.enqueue({ payload: 'Nobody' })
      for (const limit of [500, 1]) {
        assert.deepEqual(await idsOf(store, { errorText: 'of_it' }, limit), [waits.id, dead.id])
        assert.deepEqual(await idsOf(store, { errorText: `50% of_it's \\ "so" é\n` }, limit), [dead.id])
      }
      assert.deepEqual(await idsOf(store, { errorText: 'Nobody' }), [dead.id])
      assert.deepEqual(await idsOf(store, { errorText: 'Nobody', state: 'done' }), [])
      assert.deepEqual(await idsOf(store, { errorText: 'nobody' }), [])
      assert.deepEqual(await idsOf(store, { errorText: 'of_it', state: 'scheduled' }), [waits.id])
      assert.deepEqual(await idsOf(store, { errorText: 'first' }), [])
      assert.deepEqual(await idsOf(store, { errorText: 'second', state: 'running' }), [runs.id])
      await store.retry([dead.id])
      assert.deepEqual(await idsOf(store, { errorText: 'Nobody', state: 'ready' }), [dead.id])
      clock.advance(HOUR)
      await store.stage(10)
      assert.deepEqual(await idsOf(store, { errorText: 'of_it', state: 'ready' }), [dead.id, waits.id])
    },
  },
]
