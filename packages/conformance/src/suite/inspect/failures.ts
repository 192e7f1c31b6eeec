/** failures: how the last attempts of failed jobs ended. */
import assert from 'node:assert/strict'
import { aJob } from '../../factories.ts'
import { type Bench, DEAD, DONE, HOUR, RELEASED, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

/** Claims the job of this kind again and ends that attempt as given. */
export async function again(
  t: Bench,
  kind: string,
  ...end: [Parameters<Bench['finish']>[1], string | null]
): Promise<void> {
  const [transition, error] = end
  const lease = await t.claimOne(await t.worker(), { kinds: [kind] })
  await t.finish(lease, transition, error === null ? {} : { error })
}

export const failureCases: readonly Case[] = [
  test('failures returns how and when the last attempt of each job failed, in the order requested', async (t) => {
    const { store, clock } = t
    const leases = await t.runningJobs(8)
    const [dead, waits, due, back, snoozed, healed, cancelled, retried] = leases
    const never = await t.enqueue()
    const began = clock.now()
    await t.finish(dead, DEAD, { error: 'e1' })
    await t.finish(waits, later(HOUR), { error: 'e2', outcome: 'timed-out' })
    await t.finish(due, later(0), { error: 'e3' })
    await t.finish(back, later(0), { error: 'e4' })
    await t.finish(snoozed, later(HOUR), { error: 'e5', outcome: 'snoozed' })
    await t.finish(healed, later(0), { error: 'e6' })
    await t.finish(cancelled, later(HOUR), { error: 'e7' })
    await t.finish(retried, DEAD, { error: 'e8' })
    clock.advance(10)
    await store.stage(100)
    // Released without an attempt: the previous one is still the last.
    await again(t, back.kind, RELEASED, null)
    await again(t, healed.kind, DONE, null)
    await store.cancel([cancelled.id], 'why')
    await store.retry([retried.id])
    const ids = [never, ...pluck(leases, 'id'), aJob().id, dead.id]
    const failure = (error: string, outcome: string): object => ({ error, at: began, outcome })
    assert.deepEqual(await store.inspect.failures(ids), [
      null,
      failure('e1', 'failed-permanently'),
      failure('e2', 'timed-out'),
      failure('e3', 'failed'),
      failure('e4', 'failed'),
      null,
      null,
      null,
      failure('e8', 'failed-permanently'),
      null,
      failure('e1', 'failed-permanently'),
    ])
    assert.deepEqual(await store.inspect.failures([]), [])
    const at = clock.now()
    await again(t, due.kind, DEAD, 'e9')
    assert.deepEqual(await store.inspect.failures([due.id]), [
      { error: 'e9', at, outcome: 'failed-permanently' },
    ])
  }),
  test('a crash counts as a failure when the job is dead because of it', async (t) => {
    const { store, clock } = t
    const { id, kind } = await t.running()
    await t.crash(2)
    assert.deepEqual(await store.inspect.failures([id]), [null])
    await t.claimOne(await t.worker(), { kinds: [kind] })
    await t.crash(2)
    const { error } = await t.job(id)
    assert.deepEqual(await store.inspect.failures([id]), [{ error, at: clock.now(), outcome: 'interrupted' }])
    await store.retry([id])
    assert.deepEqual(await store.inspect.failures([id]), [null])
  }),
]
