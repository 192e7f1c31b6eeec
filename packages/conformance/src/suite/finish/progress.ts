/** progress: written for a running attempt, under its token. */
import assert from 'node:assert/strict'
import { aJob } from '../../factories.ts'
import { DONE, HOUR, RELEASED, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { changesNothing, repeat } from '../looks.ts'

export const progressCases: readonly Case[] = [
  test('progress of a running attempt can be read, and the last value counts; no items do nothing', async (t) => {
    const { store, running, jobIs } = t
    const { id, token } = await running()
    await jobIs(id, { progress: null })
    assert.deepEqual(await store.progress([]), [])
    assert.deepEqual(await store.progress([{ id, token, value: '{"step":1}' }]), [true])
    await jobIs(id, { progress: '{"step":1}' })
    const twice = [
      { id, token, value: '2' },
      { id, token, value: '3' },
    ]
    assert.deepEqual(await store.progress(twice), [true, true])
    await jobIs(id, { progress: '3', state: 'running' })
  }),
  test('P2 progress under a stale token is refused and changes nothing', async (t) => {
    const { store, running, finish, enqueue, crash, jobIs, runningJobs } = t
    const [done, released, retried, reaped] = await runningJobs(4)
    await finish(done, DONE)
    await finish(released, RELEASED)
    await finish(retried, later(HOUR))
    await crash()
    const current = await running()
    const waiting = await enqueue()
    const stale = [
      ...[done, released, retried, reaped].map(({ id, token }) => ({ id, token })),
      { id: current.id, token: current.token - 1 },
      { id: waiting, token: current.token },
      { id: aJob().id, token: current.token },
    ].map((item) => ({ ...item, value: '"stale"' }))
    assert.deepEqual(await changesNothing(store, () => store.progress(stale)), repeat(false, stale.length))
    const mixed = [...stale.slice(0, 1), { id: current.id, token: current.token, value: '1' }]
    assert.deepEqual(await store.progress(mixed), [false, true])
    await jobIs(current.id, { progress: '1' })
  }),
  test('a new attempt starts without the progress of the previous one', async (t) => {
    const { store, running, finish, jobIs, claimAgain } = t
    const lease = await running()
    await store.progress([{ id: lease.id, token: lease.token, value: '"half"' }])
    await finish(lease, later(0))
    await claimAgain(lease)
    await jobIs(lease.id, { progress: null })
  }),
]
