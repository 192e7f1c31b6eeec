/** Finds jobs by their last error and by values in their payloads. */
import assert from 'node:assert/strict'
import { DEAD, DONE, HOUR, later } from '../../factories.ts'
import { type Case, test } from '../case.ts'

const ODD_KEY = `it's "a.b" \\ $[0] é\n%_`
const ODD_TEXT = `50% of_it's \\ "so"\tü '; --`

const PAYLOADS = [
  { user: { id: 42, name: 'anna' } },
  { user: { id: '0042', ok: true, not: false, none: null } },
  { [ODD_KEY]: { '': ODD_TEXT, '-1': 'minus', ' 1': 'space' } },
  { items: [{ sku: 'a' }, { sku: 'b' }, [[7]]], '1': 'key' },
  ['first', 0.1 + 0.2, 1e21, -1.5e-7, 9_007_199_254_740_991],
  { text: '', deep: { text: 'null' } },
]

/** Values, and the index of the payload that contains them. */
const FOUND: readonly (readonly [number, readonly string[], string])[] = [
  [0, ['user', 'id'], '42'],
  [0, ['user', 'name'], 'anna'],
  [1, ['user', 'id'], '0042'],
  [1, ['user', 'ok'], 'true'],
  [1, ['user', 'not'], 'false'],
  [1, ['user', 'none'], 'null'],
  [2, [ODD_KEY, ''], ODD_TEXT],
  [2, [ODD_KEY, '-1'], 'minus'],
  [2, [ODD_KEY, ' 1'], 'space'],
  [3, ['items', '1', 'sku'], 'b'],
  [3, ['items', '2', '0', '0'], '7'],
  [3, ['1'], 'key'],
  [4, ['0'], 'first'],
  [4, ['1'], '0.30000000000000004'],
  [4, ['2'], '1e+21'],
  [4, ['3'], '-1.5e-7'],
  [4, ['4'], '9007199254740991'],
  [5, ['text'], ''],
  [5, ['deep', 'text'], 'null'],
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

export const findCases: readonly Case[] = [
  test('several queues and kinds: jobs of any of them, each once, in the order of the listing', async (t) => {
    const ids: Record<string, string> = {}
    for (const queue of ['q1', 'q2', 'q3'])
      for (const kind of ['a', 'b', 'c']) ids[queue + kind] = await t.enqueue({ queue, kind })
    const idsOf = (...names: string[]): string[] => names.map((name) => ids[name] ?? '')
    const both = { queue: ['q1', 'q3', 'q1', 'none'], kind: ['c', 'a'] }
    await t.lists({ ...both, state: 'ready' }, idsOf('q1a', 'q1c', 'q3a', 'q3c'), [500, 2, 1])
    await t.lists(both, idsOf('q3c', 'q3a', 'q1c', 'q1a'), [500, 2, 1])
    await t.lists({ queue: ['none', 'q2'] }, idsOf('q2c', 'q2b', 'q2a'), [500, 2, 1])
    await t.lists({ kind: ['none', 'neither'] }, [])
  }),
  test('retrying: jobs whose last attempt failed; scheduled ones wait for a retry', async (t) => {
    const [failed, late, snoozed, ready, dead] = await t.runningJobs(5)
    await t.enqueue({ delay: HOUR })
    await t.finish(failed, later(HOUR), { error: 'no' })
    await t.finish(late, later(2 * HOUR), { error: 'slow', outcome: 'timed-out' })
    await t.finish(snoozed, later(HOUR), { outcome: 'snoozed' })
    await t.finish(ready, later(0), { error: 'no' })
    await t.finish(dead, DEAD, { error: 'no' })
    await t.lists({ state: 'scheduled', retrying: true }, [failed.id, late.id], [500, 1])
    await t.lists({ state: 'ready', retrying: true }, [ready.id])
    assert.equal((await t.idsOf({ state: 'scheduled', retrying: false })).length, 4)
    assert.equal((await t.idsOf({ retrying: true, kind: failed.kind })).length, 1)
  }),
  test('end times: only ended jobs, from and before by the clock of the database', async (t) => {
    for (const state of ['done', 'dead', 'cancelled'] as const) {
      const ids: string[] = []
      const began = t.clock.now()
      for (let n = 0; n < 6; n += 1) {
        ids.unshift(await t.jobIn(state))
        t.clock.advance(10)
      }
      const range = { endedFrom: began + 10, endedBefore: began + 40 }
      await t.lists({ state, ...range }, ids.slice(2, 5), [500, 2, 1])
      await t.lists({ state, endedFrom: began + 40 }, ids.slice(0, 2), [500, 2, 1])
      assert.deepEqual((await t.idsOf(range)).toSorted(), ids.slice(2, 5).toSorted())
    }
    await t.enqueue()
    assert.deepEqual(await t.idsOf({ state: 'ready', endedBefore: t.clock.now() + HOUR }), [])
  }),
  test('start times: of the last attempt, ended or running', async (t) => {
    const began = t.clock.now()
    const ended = await t.running()
    t.clock.advance(10)
    const again = await t.running()
    t.clock.advance(10)
    const runs = await t.running()
    await t.finish(ended, DONE)
    await t.finish(again, later(0), { error: 'no' })
    t.clock.advance(10)
    await t.claimAgain(again)
    const waits = await t.enqueue()
    await t.store.cancel([await t.enqueue()], 'never started')
    const lists = async (from: number, before: number, expected: readonly string[]): Promise<void> =>
      t.lists({ startedFrom: began + from, startedBefore: began + before }, expected, [500, 1])
    await lists(0, 10, [ended.id])
    await lists(0, 11, [ended.id])
    await lists(20, 31, [runs.id, again.id])
    await lists(21, 30, [])
    await t.lists({ startedBefore: began + 60 }, [runs.id, again.id, ended.id], [500, 1])
    await t.lists({ startedFrom: began + 1 }, [runs.id, again.id])
    await t.lists({ state: 'running', startedFrom: began + 21 }, [again.id])
    await t.lists({ state: 'done', startedFrom: began, startedBefore: began + 1 }, [ended.id])
    await t.lists({ state: 'done', startedFrom: began + 1 }, [])
    await t.lists({ state: 'ready', startedBefore: began + 60 }, [])
    await t.finish(runs, later(0), { error: 'no' })
    await t.lists({ state: 'ready', startedFrom: began + 20 }, [runs.id])
    assert.equal((await t.idsOf({ state: 'ready' })).includes(waits), true)
  }),
  test('failure times: of the last failed attempt, in every state', async (t) => {
    const [dead, waits, healed, snoozed, crashed, cancelled, done] = await t.runningJobs(7)
    const began = t.clock.now()
    await t.finish(done, DONE)
    await t.finish(cancelled, later(0), { error: 'no' })
    for (const lease of [healed, snoozed]) await t.finish(lease, later(0), { error: 'no' })
    t.clock.advance(10)
    await t.finish(dead, DEAD, { error: 'no', outcome: 'failed-permanently' })
    await t.finish(waits, later(HOUR), { error: 'slow', outcome: 'timed-out' })
    t.clock.advance(10)
    await t.finish(await t.claimAgain(healed), DONE)
    await t.finish(await t.claimAgain(snoozed), later(HOUR), { outcome: 'snoozed' })
    await t.store.cancel([cancelled.id], 'enough')
    const range = (from: number, before: number) => ({
      failedFrom: began + from,
      failedBefore: began + before,
    })
    await t.lists(range(0, 10), [cancelled.id, snoozed.id, healed.id], [500, 1])
    await t.lists(range(1, 11), [waits.id, dead.id], [500, 1])
    await t.lists({ state: 'dead', ...range(10, 11) }, [dead.id])
    await t.lists({ state: 'dead', ...range(0, 10) }, [])
    await t.lists({ state: 'dead', failedFrom: began + 11 }, [])
    await t.lists({ state: 'scheduled', retrying: true, ...range(10, 20) }, [waits.id])
    await t.lists({ state: 'done', ...range(0, 10) }, [healed.id])
    await t.lists({ state: 'done', ...range(1, HOUR) }, [])
    await t.lists({ state: 'cancelled', failedBefore: began + 1 }, [cancelled.id])
    // A job that is dead because of its crashes failed when its instance was reaped.
    await t.crash(1)
    await t.lists({ failedFrom: began + HOUR }, [crashed.id])
    await t.store.retry([dead.id, crashed.id])
    await t.lists({ state: 'ready', ...range(10, 11) }, [dead.id])
    await t.lists({ failedFrom: began + HOUR }, [])
  }),
  test('filters by order key and dedupe key, with or without its scope', async (t) => {
    const one = await t.enqueue({ orderKey: 'o', dedupe: { key: 'a b' } })
    const two = await t.enqueue({ orderKey: 'o', queue: 'q2', dedupe: { key: 'a b', scope: 'queue' } })
    const three = await t.enqueue({ orderKey: 'O', kind: 'k', dedupe: { key: 'a b', scope: 'kind' } })
    await t.enqueue()
    await t.lists({ orderKey: 'o' }, [two, one], [500, 1])
    await t.lists({ orderKey: 'o', queue: 'q2' }, [two])
    await t.lists({ orderKey: '' }, [])
    await t.lists({ dedupeKey: 'a b' }, [three, two, one], [500, 1])
    await t.lists({ dedupeKey: 'global a b' }, [one])
    await t.lists({ dedupeKey: 'queue q2 a b' }, [two])
    await t.lists({ dedupeKey: 'kind k a b' }, [three])
    for (const other of ['b', 'k a b', 'A b', 'a%', 'queue q3 a b']) await t.lists({ dedupeKey: other }, [])
    await t.store.stage(10)
    await t.finish(await t.claimOne(await t.worker(), { kinds: ['k'] }), DONE)
    await t.lists({ dedupeKey: 'a b', orderKey: 'O', state: 'done' }, [three])
  }),
  test('filters by values in the payload: the value at the path, as text', async (t) => {
    const ids: string[] = []
    for (const payload of PAYLOADS) ids.push(await t.enqueue({ payload }))
    for (const payload of ['scalar', 7, null, true, [], {}]) await t.enqueue({ payload })
    for (const [n, path, value] of FOUND) await t.lists({ payloadAt: [{ path, value }] }, ids.slice(n, n + 1))
    for (const [path, value] of NOWHERE) await t.lists({ payloadAt: [{ path, value }] }, [])
  }),
  test('several payload values and other filters must all match', async (t) => {
    const both = await t.enqueue({ payload: { a: 1, b: 'x' }, tags: ['t'] })
    const one = await t.enqueue({ payload: { a: 1, b: 'y' }, delay: HOUR })
    const a = { path: ['a'], value: '1' }
    const b = { path: ['b'], value: 'x' }
    await t.lists({ payloadAt: [a] }, [one, both], [1])
    await t.lists({ payloadAt: [a, b] }, [both])
    await t.lists({ payloadAt: [] }, [one, both])
    await t.lists({ payloadAt: [a], state: 'ready' }, [both])
    await t.lists({ payloadAt: [a], state: 'scheduled', payloadText: '"y"' }, [one])
    await t.lists({ payloadAt: [b], tags: ['t'], errorText: 'x' }, [])
  }),
  test('filters by a text in the last error, literally, and never finds done jobs', async (t) => {
    const odd = `Error: 50% of_it's \\ "so" é\n  caused by: Missing`
    const [dead, waits, healed, runs, notKept] = await t.runningJobs(5)
    await t.finish(dead, DEAD, { error: odd })
    await t.finish(waits, later(HOUR), { error: 'Error: of_it' })
    await t.finish(healed, later(0), { error: odd })
    await t.finish(await t.claimAgain(healed), DONE)
    await t.finish(runs, later(0), { error: 'first' })
    await t.finish(await t.claimAgain(runs), later(0), { error: 'second' })
    await t.claimAgain(runs)
    await t.finish(notKept, DONE, { error: 'Missing' })
    await t.enqueue({ payload: 'Missing' })
    await t.lists({ errorText: 'of_it' }, [waits.id, dead.id], [500, 1])
    await t.lists({ errorText: `50% of_it's \\ "so" é\n` }, [dead.id], [500, 1])
    await t.lists({ errorText: 'Missing' }, [dead.id])
    await t.lists({ errorText: 'Missing', state: 'done' }, [])
    await t.lists({ errorText: 'missing' }, [])
    await t.lists({ errorText: 'of_it', state: 'scheduled' }, [waits.id])
    await t.lists({ errorText: 'first' }, [])
    await t.lists({ errorText: 'second', state: 'running' }, [runs.id])
    await t.store.retry([dead.id])
    await t.lists({ errorText: 'Missing', state: 'ready' }, [dead.id])
    t.clock.advance(HOUR)
    await t.store.stage(10)
    await t.lists({ errorText: 'of_it', state: 'ready' }, [dead.id, waits.id])
  }),
]
