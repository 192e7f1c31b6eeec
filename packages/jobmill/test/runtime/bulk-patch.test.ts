/**
 * Retries of many jobs with a patched payload: what changes, which jobs are skipped and counted, and what the
 * timeline of a job says. Runs on both stores.
 */
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { bulkJob, Dead, declareJob, defineJob, type FullStore, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const payload = z.object({
  amount: z.number(),
  currency: z.enum(['EUR', 'USD']).optional(),
  card: z.object({ token: z.string() }).optional(),
})
const seen: z.infer<typeof payload>[] = []
const charge = defineJob({
  kind: 'charge',
  payload,
  maxAttempts: 1,
  indexedPayload: ['currency', 'amount'],
  run({ payload }) {
    seen.push(payload)
    if (payload.currency === undefined) throw new Dead('no currency')
  },
})
const free = defineJob({
  kind: 'free',
  maxAttempts: 1,
  run({ payload }: JobContext) {
    if (payload === 'text') throw new Dead('no')
  },
})

/** The ids of jobs that died without a currency. */
async function deadCharges(mill: TestMill, amounts: readonly number[]): Promise<string[]> {
  const jobs = await mill.enqueueMany(
    charge,
    amounts.map((amount) => ({ payload: { amount }, tags: ['a'], orderKey: `order ${amount}` })),
  )
  await mill.drain()
  return jobs.map(({ id }) => id)
}

async function found(mill: TestMill, path: string, value: string): Promise<string[]> {
  const { jobs } = await mill.list({ indexedPayload: [{ path: [path], value }] })
  return jobs.map(({ id }) => id).toSorted()
}

describe.each(subjects)('retries with a patched payload on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('each job keeps its id, tags and keys, and runs with the patched payload', async () => {
    const mill = await create({ jobs: [charge, free] })
    const ids = await deadCharges(mill, [1, 2, 3])
    const before = await mill.get(ids[0] ?? '')
    const report = await mill.bulk.run('retry', { kind: 'charge' }, { patch: { currency: 'EUR' } })
    expect(report).toEqual({ looked: 3, changed: 3, refused: 0, skipped: 0, invalid: [] })
    expect(await found(mill, 'currency', 'EUR')).toEqual(ids.toSorted())
    expect(await found(mill, 'amount', '2')).toEqual([ids[1]])
    seen.length = 0
    await mill.drain()
    const patched = [1, 2, 3].map((amount) => ({ amount, currency: 'EUR' }))
    expect(seen.toSorted((a, b) => a.amount - b.amount)).toEqual(patched)
    const { id, kind, tags, orderKey, enqueuedAt } = before ?? {}
    const same = { id, kind, tags, orderKey, enqueuedAt }
    expect(await mill.get(ids[0] ?? '')).toMatchObject({ ...same, state: 'done', payload: patched[0] })
    expect(await mill.history(ids[0] ?? '')).toHaveLength(2)
  })

  test('jobs whose patched payload is invalid stay as they are, and are counted by place', async () => {
    const mill = await create({ jobs: [charge, free], payloadLimitBytes: 200 })
    const ids = await deadCharges(mill, [1, 2])
    const [text] = await mill.enqueueMany(free, [{ payload: 'text' }])
    await mill.drain()
    const before = await mill.get(ids[0] ?? '')
    const patch = { amount: '5', card: { token: 7 } }
    const report = await mill.bulk.run('retry', {}, { patch })
    const invalid = {
      at: '/amount',
      jobs: 2,
      id: expect.any(String) as string,
      message: expect.any(String) as string,
    }
    expect(report).toEqual({ looked: 3, changed: 1, refused: 0, skipped: 2, invalid: [invalid] })
    expect(ids).toContain(report.invalid?.[0]?.id)
    expect(await mill.get(ids[0] ?? '')).toEqual(before)
    // Without a schema every payload is valid. A patch of a text replaces it.
    await mill.drain()
    expect(await mill.get(text?.id ?? '')).toMatchObject({ payload: patch, state: 'done' })
    const long = await mill.bulk.run('retry', { kind: 'charge' }, { patch: { note: 'x'.repeat(180) } })
    expect(long).toMatchObject({ changed: 0, skipped: 2, invalid: [{ at: '', jobs: 2 }] })
    expect(long.invalid?.[0]?.message).toContain('exceeds 200 bytes')
  })

  test('a preview has the first job before and after, and its problem', async () => {
    const mill = await create({ jobs: [charge, free] })
    const [id] = await deadCharges(mill, [1])
    const preview = (patch: object) =>
      mill.bulk.preview('retry', { tags: ['a'] }, { patch: patch as Record<string, unknown> })
    const job = { id, kind: 'charge', before: { amount: 1 } }
    expect(await preview({ currency: 'EUR' })).toMatchObject({
      jobs: 1,
      first: { ...job, after: { amount: 1, currency: 'EUR' }, problem: null },
    })
    expect(await preview({ card: { token: 5 } })).toMatchObject({ first: { problem: { at: '/card/token' } } })
    expect(await mill.bulk.preview('retry', { tags: ['b'] }, { patch: { a: 1 } })).toMatchObject({
      jobs: 0,
      first: null,
    })
    expect(await mill.get(id ?? '')).toMatchObject({ state: 'dead', payload: { amount: 1 } })
  })

  test('the timeline of each job says who patched what, as a bulk job does it', async () => {
    const acts = bulkJob(() => mill)
    const mill: TestMill = await create({ jobs: [charge, free, acts] })
    const [id = ''] = await deadCharges(mill, [1])
    const patch = { currency: 'USD', card: { token: 't' } }
    const act = await mill.enqueue('jobmill.bulk', {
      act: 'retry',
      filter: { kind: 'charge' },
      patch,
      by: 'ada',
    })
    await mill.drain()
    expect(await mill.get(act.id)).toMatchObject({ result: { changed: 1, skipped: 0 } })
    const { events } = await mill.timeline({ job: id })
    expect(events).toMatchObject([
      {
        type: 'payload-patched',
        queue: null,
        data: { kind: 'charge', by: 'ada', before: {}, after: patch },
      },
    ])
  })

  test('a job that was retried in between is refused, and nothing overwrites its payload', async () => {
    let raced: string | undefined
    const around = (store: FullStore): FullStore => ({
      ...store,
      async get(ids, how) {
        const jobs = await store.get(ids, how)
        // Another operator is faster.
        if (raced !== undefined && ids.includes(raced)) {
          const id = raced
          raced = undefined
          await store.retry([id])
        }
        return jobs
      },
    })
    const mill = await create({ jobs: [charge, free] }, around)
    const [one = '', two = ''] = await deadCharges(mill, [1, 2])
    raced = one
    const report = await mill.bulk.run('retry', { kind: 'charge' }, { patch: { currency: 'EUR' } })
    expect(report).toMatchObject({ looked: 2, changed: 1, refused: 1, skipped: 0 })
    expect(await mill.get(one)).toMatchObject({ payload: { amount: 1 } })
    expect(await mill.get(two)).toMatchObject({ payload: { amount: 2, currency: 'EUR' } })
    expect((await mill.timeline({ job: one })).events).toEqual([])
  })

  test('a process that does not define the kind keeps the entries of known paths', async () => {
    const declared = declareJob({ kind: 'charge', payload, indexedPayload: ['currency', 'amount'] })
    const mill = await create({ jobs: [free] })
    const { id } = await mill.enqueue(declared, { amount: 4 })
    await mill.cancel(id)
    // Nothing here knows the schema, so nothing is skipped.
    const report = await mill.bulk.run('retry', { ids: [id] }, { patch: { amount: '5', currency: 'EUR' } })
    expect(report).toMatchObject({ changed: 1, skipped: 0 })
    expect([await found(mill, 'amount', '4'), await found(mill, 'amount', '5')]).toEqual([[], [id]])
  })

  test('bulk actions cannot be patched, and other actions take no patch', async () => {
    const acts = bulkJob(() => mill)
    const mill: TestMill = await create({ jobs: [charge, free, acts] })
    const { id } = await mill.enqueue('jobmill.bulk', { act: 'cancel', filter: {} }, { delay: '1h' })
    await mill.cancel(id)
    const patch = { act: 'delete' }
    expect(await mill.bulk.run('retry', { kind: 'jobmill.bulk' }, { patch })).toMatchObject({
      changed: 0,
      skipped: 1,
    })
    expect(await mill.get(id)).toMatchObject({ state: 'cancelled', payload: { act: 'cancel' } })
    for (const wrong of [1, [], {}, null, undefined])
      expect(await rejection(() => mill.bulk.run('retry', {}, { patch: wrong as never }))).toMatchObject({
        code: 'OPTION_INVALID',
        field: 'options.patch',
      })
    expect(await rejection(() => mill.bulk.run('delete', {}, { patch }))).toMatchObject({
      field: 'options.patch',
      fix: 'Omit it, or use retry',
    })
    expect(await rejection(() => mill.bulk.run('retry', {}, { patch, by: '' }))).toMatchObject({
      field: 'options.by',
    })
  })
})
