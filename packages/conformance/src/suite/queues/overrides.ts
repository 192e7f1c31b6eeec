/** N1: an option of a queue has the value from code unless an operator overrode it. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type FullStore, type QueueRecord, type QueueSettings } from 'jobmill/store'
import { only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { declare, settingsVersion, TEN } from '../limits/limit-helpers.ts'
import { hasFields, pluck } from '../looks.ts'

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
  targetLatencyMs: [12, 13, null],
  groupFair: [true, false, true],
  groupConcurrency: [1, 2, 3],
  groupRate: [4, 5, 6],
  groupRatePerMs: [1_000, 2_000, 3_000],
}
const KEYS = Object.keys(OPTIONS) as (keyof QueueSettings)[]
const NAMED_LIMITS = ['one', 'two', 'three'].map((name) => ({ name, settings: TEN }))

const code = (release: 0 | 1 | 2): Partial<QueueSettings> =>
  Object.fromEntries(KEYS.map((key) => [key, OPTIONS[key][release]]))

async function mail(store: FullStore): Promise<QueueRecord> {
  const queue = (await store.queues.list()).find(({ name }) => name === 'mail')
  return queue ?? assert.fail('queue mail does not exist')
}

/** Checks all settings of the queue `mail`. */
async function isMail(store: FullStore, expected: Partial<QueueSettings>): Promise<void> {
  const { name: _, coolingMs: __, throttles: ___, ...settings } = await mail(store)
  assert.deepEqual(settings, expected)
}

const release = (store: FullStore, settings: Partial<QueueSettings> | null): Promise<void> =>
  store.queues.declare([{ name: 'mail', settings }])

export const overrideCases: readonly Case[] = [
  test('N1 a base of the backoff is never above its max, wherever each comes from', async (t) => {
    const hasBackoff = async (backoffBaseMs: number, backoffMaxMs: number): Promise<void> =>
      hasFields(await mail(t.store), { backoffBaseMs, backoffMaxMs })
    await release(t.store, { backoffMaxMs: 10_000 })
    await t.setQueue('mail', { backoffBaseMs: 9_000 }, 'ops')
    await release(t.store, { backoffMaxMs: 2_000 })
    await hasBackoff(2_000, 2_000)
    assert.deepEqual(pluck(await t.store.overrides.list(), 'option', 'value'), [['backoffBaseMs', 2_000]])
    await release(t.store, { backoffMaxMs: 20_000 })
    await hasBackoff(9_000, 20_000)
    await t.store.overrides.reset('queue', 'mail', null)
    await t.setQueue('mail', { backoffBaseMs: 1, backoffMaxMs: 3_000 }, 'ops')
    await t.store.overrides.reset('queue', 'mail', ['backoffBaseMs'])
    await release(t.store, { backoffBaseMs: 8_000, backoffMaxMs: 20_000 })
    await hasBackoff(3_000, 3_000)
  }),
  {
    name: 'N1 every option of a queue follows each release of the code, and an omitted one has its default',
    needs: ['limits'],
    async run(t) {
      await t.store.limits.declare(NAMED_LIMITS)
      for (const settings of [code(0), code(1), { workers: 3 }, {}]) {
        await release(await t.another(), settings)
        await isMail(t.store, { ...DEFAULT_QUEUE_SETTINGS, ...settings })
      }
    },
  },
  test('N1 a process that does not declare a queue leaves the declaration of another one', async (t) => {
    await t.enqueue({ queue: 'mail' })
    await release(t.store, { workers: 4 })
    await release(t.store, null)
    assert.equal((await mail(t.store)).workers, 4)
    await t.store.queues.declare([{ name: 'new', settings: null }])
    assert.deepEqual(await t.store.overrides.list(), [])
  }),
  {
    name: 'N1 an override of each option of a queue survives every release; the others follow the code, and a reset ends it',
    needs: ['limits'],
    async run(t) {
      await t.store.limits.declare(NAMED_LIMITS)
      for (const key of KEYS) {
        await release(t.store, code(1))
        const at = t.clock.now()
        const changed = await t.setQueue('mail', { [key]: OPTIONS[key][2] }, 'ci')
        assert.equal(changed[key], OPTIONS[key][2])
        t.clock.advance(1_000)
        await release(t.store, { ...code(0), paused: false })
        await isMail(t.store, { ...code(0), paused: false, [key]: OPTIONS[key][2] })
        const override = { what: 'queue', name: 'mail', option: key, value: OPTIONS[key][2], by: 'ci', at }
        const inCode = key === 'paused' ? false : OPTIONS[key][0]
        assert.deepEqual(await t.store.overrides.list(), [
          { ...override, code: inCode, isInCode: true, isApplied: true },
        ])
        assert.deepEqual(await t.store.overrides.reset('queue', 'mail', [key]), [key])
        assert.equal((await mail(t.store))[key], inCode)
        assert.deepEqual(await t.store.overrides.list(), [])
      }
    },
  },
  test('N1 options of a queue are overridden and reset one by one, or all at once, despite concurrent changes', async (t) => {
    await release(t.store, { workers: 4, retainDoneMs: 5 })
    const other = await t.another()
    await Promise.all([
      t.setQueue('mail', { workers: 8 }, 'a'),
      other.queues.change('mail', { settings: { retainDoneMs: 6, keepDone: 3 }, coolMs: null }, 'b'),
    ])
    assert.deepEqual(pluck(await other.overrides.list(), 'option', 'value', 'by', 'code', 'isInCode'), [
      ['keepDone', 3, 'b', null, false],
      ['retainDoneMs', 6, 'b', 5, true],
      ['workers', 8, 'a', 4, true],
    ])
    assert.deepEqual(await t.store.overrides.reset('queue', 'mail', ['workers', 'paused']), ['workers'])
    assert.deepEqual(await t.store.overrides.reset('queue', 'mail', ['workers']), [])
    assert.deepEqual(await t.store.overrides.reset('queue', 'mail', null), ['keepDone', 'retainDoneMs'])
    hasFields(await mail(t.store), { workers: 4, retainDoneMs: 5, keepDone: null })
  }),
  test('N1 of an old and a new release the last declaration applies, and overrides stay', async (t) => {
    const old = await t.another()
    await release(old, { workers: 2, keepDone: 1 })
    await release(t.store, { workers: 3, keepDone: 2 })
    await t.setQueue('mail', { keepDone: 9 })
    hasFields(await mail(old), { workers: 3, keepDone: 9 })
    await release(old, { workers: 2, keepDone: 1 })
    hasFields(await mail(t.store), { workers: 2, keepDone: 9 })
  }),
  test('N1 P7 a pause by an operator is an override even if code pauses too, and no deploy resumes the queue; a resume leaves no override behind', async (t) => {
    for (const code of [{}, { paused: true }]) {
      await release(t.store, code)
      await t.setQueue('mail', { paused: true }, 'ops')
      await release(t.store, { paused: false })
      assert.equal((await mail(t.store)).paused, true)
      hasFields(only(await t.store.overrides.list()), { option: 'paused', value: true, by: 'ops' })
      await t.setQueue('mail', { paused: false }, 'ops')
      assert.equal((await mail(t.store)).paused, false)
      assert.deepEqual(await t.store.overrides.list(), [])
    }
    // If code pauses the queue, the resume must persist.
    await release(t.store, { paused: true })
    await t.setQueue('mail', { paused: false }, 'ops')
    await release(t.store, { paused: true })
    assert.equal((await mail(t.store)).paused, false)
  }),
  test('N1 a queue that code does not declare has overrides on top of the defaults', async (t) => {
    await t.enqueue({ queue: 'mail' })
    await t.setQueue('mail', { workers: 8 }, 'ops')
    hasFields(only(await t.store.overrides.list()), { option: 'workers', code: null, isInCode: false })
    await release(t.store, null)
    assert.equal((await mail(t.store)).workers, 8)
    await t.store.overrides.reset('queue', 'mail', null)
    assert.equal((await mail(t.store)).workers, null)
    await release(t.store, { workers: 2 })
    assert.equal((await mail(t.store)).workers, 2)
  }),
  {
    name: 'N1 the version of the settings changes with the live settings, and with nothing else',
    needs: ['limits'],
    async run(t) {
      await release(t.store, { workers: 4 })
      await declare(t.store)
      const before = await settingsVersion(t.store)
      await release(t.store, { workers: 4 })
      await release(t.store, { workers: 4, paused: false })
      await declare(t.store)
      await declare(t.store, { type: 'rate', amount: TEN.amount, burst: TEN.burst })
      assert.equal(await settingsVersion(t.store), before)
      await release(t.store, { workers: 5 })
      const after = await settingsVersion(t.store)
      assert.notEqual(after, before)
      await declare(t.store, { ...TEN, amount: 11 })
      assert.notEqual(await settingsVersion(t.store), after)
    },
  },
]
