/** Limits that queues name: declared with them, changed and deleted. */
import assert from 'node:assert/strict'
import type { LimitSettings } from 'jobmill/store'
import { type Case, test } from '../case.ts'
import { pluck, rejectsWith } from '../looks.ts'
import { BURST_OF_3, declare, permits, settingsVersion, setUpLimitedQueues } from './limit-helpers.ts'

export const queueLimitDeclarationCases: readonly Case[] = [
  test('a queue cannot name a missing limit, and nothing is written then', async (t) => {
    await t.enqueue()
    await declare(t.store)
    const before = await t.store.queues.list()
    const fine = { name: 'fine', settings: {} }
    await rejectsWith('LIMIT_UNKNOWN', () =>
      t.store.queues.declare([fine, { name: 'mail', settings: { limit: 'nope' } }]),
    )
    await rejectsWith('LIMIT_UNKNOWN', () =>
      t.store.queues.change('default', { settings: { limit: 'nope', workers: 3 }, coolMs: 500 }),
    )
    assert.deepEqual(await t.store.queues.list(), before)
    assert.equal((await t.setQueue('default', { limit: 'api' })).limit, 'api')
  }),
  test('N1 limits and queues that are declared together are written together, or not at all', async (t) => {
    const per = { ...BURST_OF_3, perKey: true as const }
    await declare(t.store, BURST_OF_3)
    await declare(t.store, per, 'each')
    await t.store.queues.declare([{ name: 'mail', settings: { limit: 'api' } }])
    const stored = async (): Promise<unknown> => [
      pluck(await t.store.limits.list(), 'name', 'settings'),
      await t.store.queues.list(),
      await settingsVersion(t.store),
    ]
    const declareBoth = (settings: LimitSettings, limit: string): Promise<void> =>
      t.store.limits.declare(
        [
          { name: 'new', settings: permits(1) },
          { name: 'api', settings },
        ],
        [
          { name: 'fine', settings: { limit: 'new' } },
          { name: 'other', settings: { limit } },
        ],
      )
    const before = await stored()
    await rejectsWith('LIMIT_UNKNOWN', () => declareBoth(permits(9), 'nope'))
    await rejectsWith('OPTION_CONFLICT', () => declareBoth(permits(9), 'each'))
    await rejectsWith('OPTION_CONFLICT', () => declareBoth(per, 'new'))
    assert.deepEqual(await stored(), before)
    await declareBoth(permits(9), 'new')
    assert.deepEqual(pluck(await t.store.limits.list(), 'name', 'settings'), [
      ['api', permits(9)],
      ['each', per],
      ['new', permits(1)],
    ])
    assert.deepEqual(pluck(await t.store.queues.list(), 'name', 'limit'), [
      ['fine', 'new'],
      ['mail', 'api'],
      ['other', 'new'],
    ])
    // Without a change of a limit, and without limits, the queues are declared alike.
    await declareBoth(permits(9), 'api')
    await t.store.limits.declare([], [{ name: 'fine', settings: {} }])
    assert.deepEqual(pluck(await t.store.queues.list(), 'limit'), [null, 'api', 'api'])
  }),
  test('N1 of two processes that start at once with codes that exclude each other, the refused one changes nothing', async (t) => {
    const other = await t.another()
    for (let round = 0; round < 6; round += 1) {
      const [shared, own, queue] = [`shared-${round}`, `own-${round}`, `queue-${round}`]
      await declare(t.store, BURST_OF_3, shared)
      const [keyed, named] = await Promise.allSettled([
        t.store.limits.declare([{ name: shared, settings: { ...BURST_OF_3, perKey: true } }]),
        other.limits.declare(
          [{ name: own, settings: permits(1) }],
          [{ name: queue, settings: { limit: shared } }],
        ),
      ])
      assert.notEqual(keyed.status, named.status)
      const isNamed = named.status === 'fulfilled'
      const limits = (await t.store.limits.list()).map(({ name }) => name)
      const queues = (await t.store.queues.list()).map(({ name }) => name)
      assert.deepEqual([limits.includes(own), queues.includes(queue)], [isNamed, isNamed])
    }
  }),
  test('N1 a declaration of missing settings sets up a queue that a job created, and keeps those of other code', async (t) => {
    await t.enqueue({ queue: 'mail' })
    const missing = (workers: number) =>
      t.store.queues.declare([{ name: 'mail', settings: { workers }, unlessDeclared: true }])
    const workers = async () => pluck(await t.store.queues.list(), 'workers')
    await missing(2)
    assert.deepEqual(await workers(), [2])
    await missing(3)
    assert.deepEqual(await workers(), [2])
    // The limit of a queue that stays unchanged is not checked.
    await t.store.queues.declare([{ name: 'mail', settings: { limit: 'none' }, unlessDeclared: true }])
    await t.store.queues.declare([{ name: 'mail', settings: { workers: 4 } }])
    assert.deepEqual(await workers(), [4])
  }),
  test('a limit that a queue uses cannot be deleted, until no queue does', async (t) => {
    await setUpLimitedQueues(t, BURST_OF_3)
    await rejectsWith('LIMIT_IN_USE', () => t.store.limits.delete('api'))
    assert.equal((await t.store.limits.list()).length, 1)
    await t.store.queues.declare([{ name: 'mail', settings: {} }])
    assert.equal(await t.store.limits.delete('api'), true)
  }),
  test(
    'N1 a limit that the code of a queue names cannot be deleted, even while an override hides it',
    async (t) => {
      await t.store.limits.declare([{ name: 'api', settings: BURST_OF_3 }])
      const code = { name: 'mail', settings: { limit: 'api' } }
      await t.store.queues.declare([code])
      await t.setQueue('mail', { limit: null })
      await rejectsWith('LIMIT_IN_USE', () => t.store.limits.delete('api'))
      // The same code starts again.
      await t.store.queues.declare([code])
      await t.store.queues.declare([{ name: 'mail', settings: {} }])
      assert.equal(await t.store.limits.delete('api'), true)
    },
    'overrides',
  ),
  test('N1 a limit that the code of a queue names cannot become a limit per key, even while an override hides it', async (t) => {
    await declare(t.store, BURST_OF_3)
    const code = { name: 'mail', settings: { limit: 'api' } }
    await t.store.queues.declare([code])
    await t.setQueue('mail', { limit: null })
    const per = [{ name: 'api', settings: { ...BURST_OF_3, perKey: true as const } }]
    const before = await t.store.limits.list()
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.declare(per))
    assert.deepEqual(pluck(await t.store.limits.list(), 'settings'), pluck(before, 'settings'))
    // The same code starts again, and the override can be reset.
    await t.store.queues.declare([code])
    await t.store.overrides.reset('queue', 'mail', null)
    assert.deepEqual(pluck(await t.store.queues.list(), 'limit'), ['api'])
    await t.store.queues.declare([{ name: 'mail', settings: {} }])
    await t.store.limits.declare(per)
  }),
]
