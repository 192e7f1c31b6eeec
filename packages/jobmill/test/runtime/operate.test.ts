/** What an operator can do to a job in each of its states, and what is said when it is refused. On both stores. */
import { describe, expect } from 'vitest'
import { inTurns, isGuarantee } from '../../../../test/support/in-turns.ts'
import { Dead, defineJob, type JobContext } from '../../src/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const job = defineJob({
  kind: 'a',
  async run({ payload, signal }: JobContext<'done' | 'dead' | 'hold'>) {
    if (payload === 'dead') throw new Dead('no')
    if (payload === 'hold')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})

describe.each(subjects)('operating jobs on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects, isGuarantee)
  test('retry, run now, delete and cancel answer what they did, or what to do instead', async () => {
    const mill = await create({ jobs: [job] })
    const done = await mill.enqueue(job, 'done')
    const dead = await mill.enqueue(job, 'dead', { dedupeKey: 'k' })
    const running = await mill.enqueue(job, 'hold')
    const later = await mill.enqueue(job, 'done', { delay: '1h' })
    await mill.platform.settled()

    expect(await mill.retry(done.id)).toMatchObject({
      verdict: 'refused',
      hint: expect.stringContaining('enqueue a copy') as string,
    })
    expect(await mill.runNow(dead.id)).toMatchObject({ verdict: 'refused', hint: 'It has ended: retry it' })
    expect(await mill.runNow(running.id)).toMatchObject({ verdict: 'refused', hint: 'It is running already' })
    expect(await mill.delete(running.id)).toMatchObject({
      verdict: 'refused',
      hint: 'It runs: cancel it first',
    })
    const holder = await mill.enqueue(job, 'hold', { dedupeKey: 'k', delay: '1h' })
    expect(await mill.retry(dead.id)).toMatchObject({
      verdict: 'refused',
      hint: expect.stringContaining(holder.id) as string,
    })

    expect(await mill.runNow(later.id)).toMatchObject({ verdict: 'changed', state: 'ready' })
    expect(await mill.cancel(running.id)).toBe('requested')
    expect(await mill.cancel(done.id)).toBe('finished')
    await mill.drain()
    expect(await mill.get(later.id)).toMatchObject({ state: 'done' })
    expect(await mill.delete(running.id)).toMatchObject({ verdict: 'changed', state: null })
    expect(await mill.get(running.id)).toBeNull()
    expect(await mill.delete(running.id)).toMatchObject({ verdict: 'unknown' })
  })

  test('bad input is refused by name', async () => {
    const mill = await create({ jobs: [job] })
    expect(await rejection(() => mill.get('7'))).toMatchObject({ code: 'ID_INVALID', field: 'id' })
    expect(await rejection(() => mill.pause('nowhere'))).toMatchObject({ code: 'QUEUE_UNKNOWN' })
    expect(await rejection(() => mill.changeQueue('default', { wokers: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'queue.wokers',
    })
    expect(await rejection(() => mill.enqueue(job, 'done', { dely: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'job.dely',
    })
    expect(
      await rejection(() => mill.enqueue(job, 'done', { dedupeKey: 'a', dedupe: { key: 'b' } })),
    ).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'job.dedupeKey',
    })
    expect(await rejection(() => mill.enqueueMany(job, { payload: 'done' } as never))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'items',
    })
    expect(await rejection(() => mill.enqueueMany(job, ['done'] as never))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'items[0]',
    })
    expect(await rejection(() => mill.enqueue({ kind: 'a' } as never, null))).toMatchObject({ field: 'job' })
    expect(await rejection(() => mill.enqueue('no good', null))).toMatchObject({
      code: 'NAME_INVALID',
      field: 'job.kind',
    })
  })

  test('what happened is counted by type, whether anybody listens or not', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, [{ payload: 'done' }, { payload: 'done' }, { payload: 'dead' }])
    await mill.drain()
    expect(mill.eventCounts.told).toMatchObject({ enqueued: 3, started: 3, finished: 2, dead: 1 })
  })
})
