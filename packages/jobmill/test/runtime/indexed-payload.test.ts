/**
 * Indexed payload paths: what is stored for a job, which jobs a search finds, and that index entries never
 * appear as tags. Runs on both stores.
 */
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, declareJob, defineJob, implement, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const seen: (readonly string[])[] = []
const charge = defineJob({
  kind: 'charge',
  maxAttempts: 1,
  indexedPayload: ['customer.id', 'items.0', 'vip'],
  run({
    payload,
    job,
  }: JobContext<{ customer: { id: string | number }; items?: string[]; vip?: boolean | null }>) {
    seen.push(job.tags)
    if (payload.vip === true) throw new Dead('no')
  },
})
const plain = defineJob({ kind: 'plain', run: (_: JobContext<{ customer: { id: string } }>) => {} })

const at = (path: string, value: string) => ({ indexedPayload: [{ path: path.split('.'), value }] })

async function found(mill: TestMill, filter: Parameters<TestMill['list']>[0]): Promise<string[]> {
  return (await mill.list(filter)).jobs.map(({ id }) => id)
}

describe.each(subjects)('indexed payload paths on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('a search finds jobs of every state by a value, and reads only them', async () => {
    const mill = await create({ jobs: [charge, plain] })
    await mill.enqueueMany(
      charge,
      Array.from({ length: 300 }, (_, n) => ({ payload: { customer: { id: n } } })),
    )
    const done = await mill.enqueue(charge, { customer: { id: 'cus_4711' } }, { tags: ['red'] })
    const dead = await mill.enqueue(charge, { customer: { id: 'cus_4711' }, vip: true })
    await mill.drain()
    const later = await mill.enqueue(charge, { customer: { id: 'cus_4711' } }, { delay: '1h' })
    await mill.enqueue(plain, { customer: { id: 'cus_4711' } })
    const filter = at('customer.id', 'cus_4711')
    const { jobs, scanned, complete } = await mill.list(filter)
    expect(jobs.map(({ id }) => id)).toEqual([later.id, dead.id, done.id])
    expect({ scanned, complete }).toEqual({ scanned: 3, complete: true })
    const ended = await mill.list({ ...filter, state: ['done', 'dead'] })
    expect(ended).toMatchObject({ scanned: 6, jobs: [{ id: done.id }, { id: dead.id }] })
    expect(await found(mill, { ...filter, tags: ['red'] })).toEqual([done.id])
    expect(await found(mill, { ...filter, kind: 'plain' })).toEqual([])
    expect(await found(mill, { ...filter, payloadAt: [{ path: ['vip'], value: 'true' }] })).toEqual([dead.id])
    expect(await mill.count({ ...filter, state: 'dead' })).toMatchObject({ jobs: 1 })
    expect(await mill.bulk.run('retry', filter)).toMatchObject({ looked: 1, changed: 1 })
  })

  test('strings, numbers and booleans of at most 200 characters are indexed', async () => {
    const mill = await create({ jobs: [charge] })
    const long = 'x'.repeat(201)
    const one = await mill.enqueue(charge, { customer: { id: 7 }, items: ['a:b c'], vip: false })
    await mill.enqueue(charge, { customer: { id: long }, items: [], vip: null })
    expect(await found(mill, at('customer.id', '7'))).toEqual([one.id])
    expect(await found(mill, at('items.0', 'a:b c'))).toEqual([one.id])
    expect(await found(mill, at('vip', 'false'))).toEqual([one.id])
    expect(await found(mill, at('vip', 'null'))).toEqual([])
    expect(await rejection(() => mill.list(at('customer.id', long)))).toMatchObject({
      field: 'filter.indexedPayload[0].value',
    })
    expect(await rejection(() => mill.list(at('a b', '1')))).toMatchObject({
      field: 'filter.indexedPayload[0].path',
    })
  })

  test('index entries are no tags: in lists, jobs, handlers and filters', async () => {
    const mill = await create({ jobs: [charge] })
    const entry = '\u0001customer.id:c'
    const { id } = await mill.enqueue(charge, { customer: { id: 'c' } }, { tags: ['red'] })
    expect(mill.enqueued(charge)).toMatchObject([{ tags: ['red'] }])
    seen.length = 0
    await mill.drain()
    expect(seen).toEqual([['red']])
    expect(await mill.get(id)).toMatchObject({ tags: ['red'] })
    expect(await mill.list({})).toMatchObject({ jobs: [{ tags: ['red'] }] })
    expect(await mill.list({}, { include: ['payload'] })).toMatchObject({ jobs: [{ tags: ['red'] }] })
    expect(await rejection(() => mill.list({ tags: [entry] }))).toMatchObject({ field: 'filter.tags[0]' })
    expect(
      await rejection(() => mill.enqueue(charge, { customer: { id: 'c' } }, { tags: [entry] })),
    ).toMatchObject({ code: 'NAME_INVALID' })
    const { tags } = (await mill.store.get([id]))[0] ?? {}
    expect(tags?.toSorted()).toEqual([entry, 'red'])
  })

  test('jobs of a declaration, of a schedule and of a replaced payload are indexed', async () => {
    const ship = declareJob({
      kind: 'ship',
      payload: z.object({ order: z.string() }),
      indexedPayload: ['order'],
    })
    const mill = await create({ jobs: [implement(ship, () => {})] })
    const [by] = [at('order', 'b')]
    const dedupe = { key: 'k', onConflict: 'replace' } as const
    const { id } = await mill.enqueue(ship, { order: 'a' }, { dedupe, delay: '1h' })
    await mill.enqueue('ship', { order: 'b' }, { dedupe, delay: '1h' })
    expect(await mill.list(at('order', 'a'))).toMatchObject({ jobs: [], scanned: 0 })
    expect(await found(mill, by)).toEqual([id])
    await mill.schedules.create({ name: 's', job: 'ship', when: 'every 1m', payload: { order: 'b' } })
    const triggered = await mill.schedules.trigger('s')
    await mill.clock.advance('61s')
    await mill.drain()
    const all = await found(mill, by)
    expect(all).toContain(triggered.job)
    expect(all.length).toBeGreaterThan(2)
  })
})
