/**
 * Bulk actions on all jobs that match a filter: counted first, then applied page by page, once per job.
 * Runs on both stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { bulkJob, Dead, defineJob, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const job = defineJob({
  kind: 'a',
  maxAttempts: 1,
  async run({ payload, signal }: JobContext<string>) {
    if (payload === 'dead') throw new Dead('no')
    if (payload === 'hold')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})
const many = (n: number, payload: string, more: object = {}): { payload: string }[] =>
  Array.from({ length: n }, () => ({ payload, ...more }))

describe.each(subjects)('bulk actions on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('retry changes dead jobs, more than a page of them, and skips those that die again', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, [
      ...many(700, 'dead', { tags: ['x'] }),
      ...many(3, 'dead'),
      ...many(2, 'done'),
    ])
    await mill.drain()
    expect(await mill.bulk.preview('retry', {})).toEqual({ jobs: 703, byState: { dead: 703, cancelled: 0 } })
    expect(await mill.bulk.preview('retry', { tags: ['x'] })).toEqual({ jobs: 700, byState: { dead: 700 } })
    const looked: number[] = []
    const report = await mill.bulk.run('retry', { tags: ['x'] }, { progress: (n) => looked.push(n) })
    expect(report).toEqual({ looked: 700, changed: 700, refused: 0 })
    expect(looked).toEqual([500, 700])
    await mill.drain()
    const [counts] = await mill.counts()
    expect(counts).toMatchObject({ dead: 703, done: 2 })
  })

  test('S low a bulk action with an undefined key in its filter changes no job', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, many(2, 'done', { delay: '1h' }))
    for (const key of ['queue', 'kind', 'tags', 'state', 'ids', 'fingerprint'])
      for (const act of ['cancel', 'delete', 'run-now', 'retry'] as const) {
        const refused = {
          code: 'OPTION_INVALID',
          field: `filter.${key}`,
          fix: `Pass a value, or omit ${key}`,
        }
        const filter = { [key]: undefined }
        expect(await rejection(() => mill.bulk.run(act, filter))).toMatchObject(refused)
        expect(await rejection(() => mill.bulk.preview(act, filter))).toMatchObject(refused)
        expect(await rejection(() => mill.bulk.upToNow(filter))).toMatchObject(refused)
      }
    expect(await mill.count({ state: 'scheduled' })).toMatchObject({ jobs: 2 })
  })

  test('cancel fires the signals of running jobs, and emits events for waiting ones', async () => {
    const mill = await create({ jobs: [job] })
    const running = await mill.enqueue(job, 'hold')
    const later = await mill.enqueue(job, 'done', { delay: '1h' })
    await mill.platform.settled()
    expect(await mill.bulk.run('cancel', {}, { reason: 'enough' })).toEqual({
      looked: 2,
      changed: 2,
      refused: 0,
    })
    await mill.drain()
    for (const { id } of [running, later]) expect(await mill.get(id)).toMatchObject({ state: 'cancelled' })
    expect(mill.events.filter(({ type }) => type === 'cancelled')).toHaveLength(2)
  })

  test('a bulk job on all jobs does not change itself', async () => {
    const acts = bulkJob(() => mill)
    const mill: TestMill = await create({ jobs: [job, acts] })
    await mill.enqueue(job, '', { delay: '1h' })
    const act = await mill.enqueue('jobmill.bulk', { act: 'cancel', filter: {} })
    await mill.drain()
    expect(await mill.get(act.id)).toMatchObject({
      state: 'done',
      result: { looked: 1, changed: 1, refused: 0 },
    })
    expect(await mill.bulk.preview('delete', {})).toMatchObject({ jobs: 1 })
    expect(await mill.bulk.preview('delete', { queue: 'jobmill' })).toMatchObject({ jobs: 1 })
  })

  test('run-now and delete change jobs, and retry counts refused ones', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, many(3, 'done', { delay: '1h' }))
    const dead = await mill.enqueue(job, 'dead', { dedupeKey: 'k' })
    await mill.drain()
    await mill.enqueue(job, 'done', { dedupeKey: 'k', delay: '2h' })
    expect(await mill.bulk.run('retry', { state: 'dead' })).toEqual({ looked: 1, changed: 0, refused: 1 })
    expect(await mill.bulk.run('run-now', { queue: 'default' })).toEqual({
      looked: 4,
      changed: 4,
      refused: 0,
    })
    await mill.drain()
    expect(await mill.bulk.run('delete', { state: 'done' })).toEqual({ looked: 4, changed: 4, refused: 0 })
    expect(await mill.bulk.preview('delete', {})).toMatchObject({ jobs: 1 })
    expect(await mill.get(dead.id)).toMatchObject({ state: 'dead' })
  })

  test('an invalid operation is refused, and an aborted one keeps the changes made so far', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, many(1_100, 'done', { delay: '1h' }))
    expect(await rejection(() => mill.bulk.run('retry', { state: 'done' }))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'filter.state',
    })
    expect(await rejection(() => mill.bulk.run('explode' as 'retry', {}))).toMatchObject({ field: 'act' })
    const stop = new AbortController()
    const signal = { signal: stop.signal, progress: () => stop.abort(new Error('enough')) }
    await expect(mill.bulk.run('delete', {}, signal)).rejects.toThrow('enough')
    expect(await mill.counts()).toMatchObject([{ scheduled: 600 }])
  })
})
