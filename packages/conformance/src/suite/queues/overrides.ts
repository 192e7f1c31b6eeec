/** N1: an option of a queue has the value from code unless an operator overrode it. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type FullStore, type QueueRecord, type QueueSettings } from 'jobmill/store'
import { type Case, test } from '../case.ts'
import { setQueue, hasFields, pluck } from '../looks.ts'
import { declare, settingsVersion, TEN } from '../limits/limit-helpers.ts'

/** Every option of a queue in two releases of the code, and its override. */
const OPTIONS: {
  readonly [Key in keyof QueueSettings]: readonly [QueueSettings[Key], QueueSettings[Key], QueueSettings[Key]]
} = {
  workers: [4, 5, 8],
  paused: [true, false, true],
  backoffEnabled: [false, true, false],
  backoffBaseMs: [1, 2, 3],
  backoffMaxMs: [100, 200, 300],
  retainDoneMs: [4, 5, null],
  retainCancelledMs: [5, 6, 7],
  retainDeadMs: [6, 7, null],
  keepDone: [7, 8, 0],
  keepCancelled: [8, 9, null],
  keepDead: [9, 10, 11],
  limit: ['one', 'two', 'three'],
}
const KEYS = Object.keys(OPTIONS) as (keyof QueueSettings)[]
const NAMED_LIMITS = ['one', 'two', 'three'].map((name) => ({ name, settings: TEN }))

const code = (release: 0 | 1 | 2): Partial<QueueSettings> =>
  Object.fromEntries(KEYS.map((key) => [key, OPTIONS[key][release]]))

async function mail(store: FullStore): Promise<QueueRecord> {
  const queue = (await store.queues.list()).find(({ name }) => name === 'mail')
  assert.ok(queue, 'queue mail does not exist')
  return queue
}

const release = (store: FullStore, settings: Partial<QueueSettings> | null): Promise<void> =>
  store.queues.declare([{ name: 'mail', settings }])

export const overrideCases: readonly Case[] = [
  test('N1 a base of the backoff is never above its max, wherever each comes from', async ({ store }) => {
    const backoff = async (): Promise<unknown> => {
      const { backoffBaseMs, backoffMaxMs } = await mail(store)
      return [backoffBaseMs, backoffMaxMs]
    }
    await release(store, { backoffMaxMs: 10_000 })
    await setQueue(store, 'mail', { backoffBaseMs: 9_000 }, 'ops')
    await release(store, { backoffMaxMs: 2_000 })
    assert.deepEqual(await backoff(), [2_000, 2_000])
    assert.deepEqual(pluck(await store.overrides.list(), 'option', 'value'), [['backoffBaseMs', 2_000]])
    await release(store, { backoffMaxMs: 20_000 })
    assert.deepEqual(await backoff(), [9_000, 20_000])
    await store.overrides.reset('queue', 'mail', null)
    await setQueue(store, 'mail', { backoffBaseMs: 1, backoffMaxMs: 3_000 }, 'ops')
    await store.overrides.reset('queue', 'mail', ['backoffBaseMs'])
    await release(store, { backoffBaseMs: 8_000, backoffMaxMs: 20_000 })
    assert.deepEqual(await backoff(), [3_000, 3_000])
  }),
  {
    name: 'N1 every option of a queue follows each release of the code, and an omitted one has its default',
    needs: ['limits'],
    async run({ store, another }) {
      await store.limits.declare(NAMED_LIMITS)
      for (const settings of [code(0), code(1), { workers: 3 }, {}]) {
        await (await another()).queues.declare([{ name: 'mail', settings }])
        const { name: _, coolingMs: __, throttles: ___, ...counts } = await mail(store)
        assert.deepEqual(counts, { ...DEFAULT_QUEUE_SETTINGS, ...settings })
      }
    },
  },
  test('N1 a process that does not declare a queue leaves the declaration of another one', async (t) => {
    const { store, enqueue } = t
    await enqueue({ queue: 'mail' })
    await release(store, { workers: 4 })
    await release(store, null)
    assert.equal((await mail(store)).workers, 4)
    await store.queues.declare([{ name: 'new', settings: null }])
    assert.deepEqual(await store.overrides.list(), [])
  }),
  {
    name: 'N1 an override of each option of a queue survives every release; the others follow the code, and a reset ends it',
    needs: ['limits'],
    async run({ store, clock }) {
      await store.limits.declare(NAMED_LIMITS)
      for (const key of KEYS) {
        await release(store, code(1))
        const at = clock.now()
        const changed = await setQueue(store, 'mail', { [key]: OPTIONS[key][2] }, 'ci')
        assert.equal(changed[key], OPTIONS[key][2])
        clock.advance(1_000)
        await release(store, { ...code(0), paused: false })
        const expected = { ...code(0), paused: false, [key]: OPTIONS[key][2] }
        const { name: _, coolingMs: __, throttles: ___, ...counts } = await mail(store)
        assert.deepEqual(counts, expected)
        const override = { what: 'queue', name: 'mail', option: key, value: OPTIONS[key][2], by: 'ci', at }
        const inCode = key === 'paused' ? false : OPTIONS[key][0]
        assert.deepEqual(await store.overrides.list(), [
          { ...override, code: inCode, isInCode: true, isApplied: true },
        ])
        assert.deepEqual(await store.overrides.reset('queue', 'mail', [key]), [key])
        assert.equal((await mail(store))[key], inCode)
        assert.deepEqual(await store.overrides.list(), [])
      }
    },
  },
  test('N1 options of a queue are overridden and reset one by one, or all at once, despite concurrent changes', async (t) => {
    const { store, another } = t
    await release(store, { workers: 4, retainDoneMs: 5 })
    const other = await another()
    await Promise.all([
      setQueue(store, 'mail', { workers: 8 }, 'a'),
      setQueue(other, 'mail', { retainDoneMs: 6, keepDone: 3 }, 'b'),
    ])
    assert.deepEqual(pluck(await other.overrides.list(), 'option', 'value', 'by', 'code', 'isInCode'), [
      ['keepDone', 3, 'b', null, false],
      ['retainDoneMs', 6, 'b', 5, true],
      ['workers', 8, 'a', 4, true],
    ])
    assert.deepEqual(await store.overrides.reset('queue', 'mail', ['workers', 'paused']), ['workers'])
    assert.deepEqual(await store.overrides.reset('queue', 'mail', ['workers']), [])
    assert.deepEqual(await store.overrides.reset('queue', 'mail', null), ['keepDone', 'retainDoneMs'])
    hasFields(await mail(store), { workers: 4, retainDoneMs: 5, keepDone: null })
  }),
  test('N1 of an old and a new release the last declaration applies, and overrides stay', async (t) => {
    const { store, another } = t
    const old = await another()
    await release(old, { workers: 2, keepDone: 1 })
    await release(store, { workers: 3, keepDone: 2 })
    await setQueue(store, 'mail', { keepDone: 9 })
    assert.deepEqual([(await mail(old)).workers, (await mail(old)).keepDone], [3, 9])
    await release(old, { workers: 2, keepDone: 1 })
    assert.deepEqual([(await mail(store)).workers, (await mail(store)).keepDone], [2, 9])
  }),
  test('N1 P7 a pause by an operator is an override even if code pauses too, and no deploy resumes the queue; a resume leaves no override behind', async (t) => {
    const { store } = t
    for (const code of [{}, { paused: true }]) {
      await release(store, code)
      await setQueue(store, 'mail', { paused: true }, 'ops')
      await release(store, { paused: false })
      assert.equal((await mail(store)).paused, true)
      assert.deepEqual(pluck(await store.overrides.list(), 'option', 'value', 'by'), [
        ['paused', true, 'ops'],
      ])
      await setQueue(store, 'mail', { paused: false }, 'ops')
      assert.deepEqual([(await mail(store)).paused, await store.overrides.list()], [false, []])
    }
    // If code pauses the queue, the resume must persist.
    await release(store, { paused: true })
    await setQueue(store, 'mail', { paused: false }, 'ops')
    await release(store, { paused: true })
    assert.equal((await mail(store)).paused, false)
  }),
  test('N1 a queue that code does not declare has overrides on top of the defaults', async (t) => {
    const { store, enqueue } = t
    await enqueue({ queue: 'mail' })
    await setQueue(store, 'mail', { workers: 8 }, 'ops')
    assert.deepEqual(pluck(await store.overrides.list(), 'option', 'code', 'isInCode'), [
      ['workers', null, false],
    ])
    await release(store, null)
    assert.equal((await mail(store)).workers, 8)
    await store.overrides.reset('queue', 'mail', null)
    assert.equal((await mail(store)).workers, null)
    await release(store, { workers: 2 })
    assert.equal((await mail(store)).workers, 2)
  }),
  {
    name: 'N1 the version of the settings changes with the live settings, and with nothing else',
    needs: ['limits'],
    async run({ store }) {
      await release(store, { workers: 4 })
      await declare(store)
      const before = await settingsVersion(store)
      await release(store, { workers: 4 })
      await release(store, { workers: 4, paused: false })
      await declare(store)
      await declare(store, { type: 'rate', amount: TEN.amount, burst: TEN.burst })
      assert.equal(await settingsVersion(store), before)
      await release(store, { workers: 5 })
      const after = await settingsVersion(store)
      assert.notEqual(after, before)
      await declare(store, { ...TEN, amount: 11 })
      assert.notEqual(await settingsVersion(store), after)
    },
  },
]
