// Waiting jobs, and jobs with every outcome.
import { aFinish, aJob, DEAD, DONE, later, RELEASED } from '../../../conformance/src/factories.ts'
import { entryOf } from '../../src/job/payload/indexed.ts'
import { HOUR, type Words } from './words.ts'

/** The value of an indexed payload path. */
export const ENTRY = entryOf('id', 'c')

export async function waiting({ store, clock, enqueue, running, claimOne }: Words): Promise<void> {
  for (const priority of [5, 0, -1, 0, 5, 0])
    for (const queue of ['default', 'slow', 'limited', 'paused']) await enqueue({ queue, priority })
  await enqueue({
    tags: ['b', 'a'],
    metadata: { trace: { x: [1, ' '] } },
    payload: { text: 'é " \\ \u2028 \u{1F600}', n: 1e21, deep: [null, { z: 1, a: 2 }] },
    timeout: 50,
    maxAttempts: 9,
  })
  await store.enqueue([{ ...aJob({ payload: { id: 'c' } }), tags: ['own', ENTRY] }])
  for (const payload of [null, 'text', 0, [], {}]) await enqueue({ payload, kind: 'other' })
  await enqueue({ delay: HOUR, priority: 3, tags: ['late'] })
  await enqueue({ runAt: new Date(clock.now() + 2 * HOUR), queue: 'slow' })
  // Released to the front, retried at the end, snoozed, throttled, and one with a log.
  const released = await running({ queue: 'slow' })
  clock.advance(10)
  await store.finish([aFinish(released, RELEASED)])
  await store.finish([aFinish(await running(), later(0), { error: 'at once', log: 'a line\n' })])
  await store.finish([
    aFinish(await running(), later(40_000), { outcome: 'timed-out', error: 'slow', ranMs: 3 }),
  ])
  await store.finish([aFinish(await running(), later(50_000, { refund: true }), { outcome: 'snoozed' })])
  const throttled = await running({ queue: 'slow' })
  await store.finish([
    aFinish(throttled, later(60_000), {
      outcome: 'throttled',
      cool: { baseMs: 900, maxMs: 9_000, quietMs: 500 },
    }),
  ])
  await store.finish([aFinish(await running(), later(70_000), { outcome: null })])
  await store.finish([aFinish(await claimOne('default'), RELEASED)])
}

export async function ended({ store, clock, enqueue, running, claimOne }: Words): Promise<void> {
  for (const result of [null, 'null', '{"b":[1, 2],"a":"\u00e9"}', '"text"'])
    await store.finish([aFinish(await running({ tags: ['end'] }), { to: 'done', result })])
  clock.advance(5)
  await store.finish([
    aFinish(await running(), DONE, { error: 'the result was too large', log: 'all of it' }),
  ])
  await store.finish([aFinish(await running({ maxAttempts: 1 }), DEAD, { outcome: 'failed', error: 'last' })])
  await store.finish([aFinish(await running(), { to: 'dead', refund: true }, { error: 'it never ran' })])
  await store.finish([aFinish(await running(), { to: 'cancelled' }, { error: 'by itself' })])
  await store.cancel([await enqueue(), await enqueue({ delay: HOUR })], 'not wanted')
  const asked = await running()
  await store.cancel([asked.id], 'stop it')
  await store.finish([aFinish(asked, later(10))])
  // Dead, retried, and waiting or dead again: its history continues.
  for (const last of [later(HOUR), DEAD]) {
    const lease = await running({ queue: 'again' })
    await store.finish([aFinish(lease, DEAD, { error: 'first' })])
    await store.retry([lease.id])
    await store.finish([aFinish(await claimOne('again'), last, { error: 'second' })])
  }
  // More attempts than are kept.
  await enqueue({ queue: 'often', maxAttempts: 100 })
  for (let n = 0; n < 40; n += 1)
    await store.finish([aFinish(await claimOne('often'), later(0), { error: String(n) })])
}
