/**
 * Tests batching: concurrent calls share writes in order, and the failure of one does not affect the others.
 */
import { describe, expect, test } from 'vitest'
import { enqueuer } from '../../src/enqueue/enqueuer.ts'
import { JobmillError } from '../../src/job/errors.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { JobRequest } from '../../src/job/enqueue/prepare-jobs.ts'
import type { FullStore } from '../../src/store/store.ts'
import { fakePlatform } from './support.ts'

interface Write {
  readonly jobs: readonly NewJob[]
  /** Lets the write succeed. */
  readonly commit: () => void
  readonly fail: (error: unknown) => void
}

/** A store whose writes stay in flight until the test ends them. */
function slowStore() {
  const writes: Write[] = []
  const enqueue = (jobs: readonly NewJob[]) =>
    new Promise((resolve, reject) => {
      const commit = (): void => resolve(jobs.map(({ id }) => ({ id, outcome: 'enqueued' })))
      writes.push({ jobs, commit, fail: reject })
    })
  return { store: { enqueue } as unknown as FullStore, writes }
}

const id = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`
const A: JobRequest = { kind: 'a', payload: 1 }
const keyed = (key: string): JobRequest => ({ ...A, dedupe: { key } })
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const payloads = (write: Write | undefined): unknown[] =>
  write?.jobs.map(({ payload }): unknown => JSON.parse(payload)) ?? []

describe('plain jobs', () => {
  test('sends a call at once and alone while no write is in flight', async () => {
    const { store, writes } = slowStore()
    const answer = enqueuer(store, { platform: fakePlatform() }).enqueue([A])
    await settle()
    expect(writes).toHaveLength(1)
    writes[0]?.commit()
    expect(await answer).toHaveLength(1)
  })

  test('puts the calls of one event loop turn into one write', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers = [1, 2, 3].map((n) => enqueue([{ kind: 'a', payload: n }]))
    await settle()
    expect(writes.map(payloads)).toEqual([[1, 2, 3]])
    writes[0]?.commit()
    expect((await Promise.all(answers)).flat()).toHaveLength(3)
  })

  test('puts the calls that arrive during two writes into the next one, in order, each with its own answers', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers: ReturnType<typeof enqueue>[] = []
    for (const n of [1, 2, 3, 4, 5]) {
      answers.push(
        enqueue([
          { kind: 'a', payload: n },
          { kind: 'a', payload: -n },
        ]),
      )
      await settle()
    }
    expect(writes.map(payloads)).toEqual([
      [1, -1],
      [2, -2],
    ])
    writes[0]?.commit()
    await settle()
    expect(payloads(writes[2])).toEqual([3, -3, 4, -4, 5, -5])
    for (const write of writes) write.commit()
    const ids = (await Promise.all(answers)).map((replies) => replies.map(({ id }) => id))
    const written = writes.flatMap(({ jobs }) => jobs.map(({ id }) => id))
    expect(ids.flat()).toEqual(written)
  })

  test('puts at most 1,000 jobs and 4 MiB into a write, but never splits a call', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const many = (count: number): JobRequest[] => Array.from({ length: count }, () => A)
    const large: JobRequest = { kind: 'a', payload: 'x'.repeat(900_000) }
    const calls = [
      [A],
      [A],
      many(600),
      many(400),
      many(1),
      many(2_000),
      [large, large],
      [large, large],
      [large, large],
    ]
    const answers = calls.map((call) => enqueue(call))
    for (let n = 0; n < 20; n += 1) {
      for (const write of writes) write.commit()
      await settle()
    }
    await Promise.all(answers)
    expect(writes.map(({ jobs }) => jobs.length)).toEqual([602, 401, 2_000, 4, 2])
  })
})

describe('a failing write', () => {
  test.each([
    ['an error of the driver', new Error('the database does not like 3')],
    [
      'D1 an error that a trigger raised',
      new JobmillError('STORE_UNAVAILABLE', 'it does not like 3', {
        cause: { severity: 'ERROR', code: 'P0001' },
      }),
    ],
  ])('does not fail its neighbors: the batcher finds the bad call. %s', async (_what, bad) => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers = Promise.allSettled([0, 0, 1, 2, 3, 4, 5].map((n) => enqueue([{ kind: 'a', payload: n }])))
    await settle()
    for (let n = 0; n < 40; n += 1) {
      for (const write of writes) {
        if (payloads(write).includes(3)) write.fail(bad)
        else write.commit()
      }
      await settle()
    }
    const results = await answers
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(results[4]).toMatchObject({ reason: bad })
  })

  const internal = new JobmillError('OUTCOME_UNKNOWN', 'it does not like 3', {
    cause: { severity: 'ERROR', code: 'XX000' },
  })

  test('D1 P11 does not fail its neighbors if the error leaves the outcome unknown: within 2 s they are written, under the same ids', async () => {
    const { store, writes } = slowStore()
    const platform = fakePlatform({ eager: true })
    const { enqueue } = enqueuer(store, { platform })
    const waited = (): number => platform.asked.reduce((total, ms) => total + ms, 0)
    const writtenAfter: number[] = []
    const calls = [0, 0, 1, 2, 3, 4, 5, 3, 6, 7].map(async (n) => {
      const [reply] = await enqueue([{ kind: 'a', payload: n }])
      writtenAfter.push(waited())
      return reply?.id
    })
    const answers = Promise.allSettled(calls)
    for (let n = 0; n < 80; n += 1) {
      await settle()
      for (const write of writes) {
        if (payloads(write).includes(3)) write.fail(internal)
        else write.commit()
      }
    }
    const results = await answers
    expect(results.map(({ status }) => (status === 'fulfilled' ? 1 : 0))).toEqual([
      1, 1, 1, 1, 0, 1, 1, 0, 1, 1,
    ])
    expect(results[4]).toMatchObject({ reason: internal })
    expect(Math.max(...writtenAfter)).toBeLessThan(2_000)
    expect(new Set(writes.flatMap(({ jobs }) => jobs.map((job) => job.id))).size).toBe(10)
    expect(
      new Set(results.map((result) => (result.status === 'fulfilled' ? result.value : 'none'))).size,
    ).toBe(9)
  })

  test('D1 an unknown outcome of every call is not searched for long, and all calls are sent again together', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform({ eager: true }) })
    const answers = Promise.allSettled(
      Array.from({ length: 500 }, (_, n) => enqueue([{ kind: 'a', payload: n }])),
    )
    let failed = 0
    for (let n = 0; n < 80; n += 1) {
      await settle()
      for (const write of writes.splice(0)) {
        if (failed < 41) write.fail(internal)
        else write.commit()
        failed += 1
      }
    }
    expect((await answers).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(failed).toBe(42)
  })

  test('fails every call if the database is the cause', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers = Promise.allSettled([1, 2, 3, 4].map((n) => enqueue([{ kind: 'a', payload: n }])))
    await settle()
    const down = new JobmillError('STORE_UNAVAILABLE', 'as the test says')
    for (let n = 0; n < 4; n += 1) {
      for (const write of writes) write.fail(down)
      await settle()
    }
    const results = await answers
    expect(results.map((result) => result.status === 'rejected' && result.reason === down)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(writes).toHaveLength(1)
  })
})

describe('separate batches', () => {
  test('a job with a dedupe key never shares a write with jobs without one, nor waits for them', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    void Promise.allSettled([
      enqueue([A]),
      enqueue([A]),
      enqueue([A]),
      enqueue([keyed('k')]),
      enqueue([keyed('l')]),
    ])
    await settle()
    expect(writes.map(({ jobs }) => jobs.map(({ dedupe }) => dedupe?.key ?? null))).toEqual([
      [null, null, null],
      ['global k', 'global l'],
    ])
  })

  test('a job with its own id and no dedupe key does not share a write with jobs that have one', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    void Promise.allSettled([
      enqueue([{ ...keyed('k'), id: id(1) }]),
      enqueue([{ ...A, id: id(2) }]),
      enqueue([{ ...keyed('l'), id: id(3) }]),
    ])
    await settle()
    expect(writes.map(({ jobs }) => jobs.map((job) => job.id))).toEqual([[id(1), id(3)], [id(2)]])
  })

  test('a write holds each dedupe key and each given id at most once', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers = ['a', 'b', 'c', 'b', 'd'].map((key) => enqueue([keyed(key)]))
    for (let n = 0; n < 8; n += 1) {
      for (const write of writes) write.commit()
      await settle()
    }
    await Promise.all(answers)
    expect(writes.map(({ jobs }) => jobs.map(({ dedupe }) => dedupe?.key))).toEqual([
      ['global a', 'global b', 'global c'],
      ['global b', 'global d'],
    ])
  })

  test('a full buffer refuses further calls with a retryable error', async () => {
    const { store, writes } = slowStore()
    const { enqueue } = enqueuer(store, { platform: fakePlatform() })
    const answers = Array.from({ length: 10 }, () => enqueue(Array.from({ length: 10_000 }, () => A)))
    await expect(enqueue([A])).rejects.toMatchObject({ code: 'OVERLOADED', retryable: true })
    for (let n = 0; n < 20; n += 1) {
      for (const write of writes) write.commit()
      await settle()
    }
    await Promise.all(answers)
    const again = enqueue([A])
    await settle()
    writes.at(-1)?.commit()
    expect(await again).toHaveLength(1)
  })

  test('D7 a call above the size limit on its own is refused with the advice to split it, with and without a transaction', async () => {
    const { store, writes } = slowStore()
    const { write } = enqueuer<FullStore<object>>(store, { platform: fakePlatform() })
    const payload = JSON.stringify('x'.repeat(1024 * 1024))
    const jobs = Array.from({ length: 293 }, () => ({ payload }) as NewJob)
    for (const tx of [undefined, {}])
      await expect(write(jobs, { tx, mayRepeat: false })).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        retryable: false,
        message: 'items: must not exceed 256 MiB in total (got 294 MiB). Split the items into several calls.',
      })
    expect(writes).toEqual([])
  })

  test('D7 the size of a call is counted in bytes of UTF-8, with the metadata', async () => {
    const { store, writes } = slowStore()
    const { write } = enqueuer<FullStore<object>>(store, { platform: fakePlatform() })
    const euros = JSON.stringify('€'.repeat(1024 * 1024))
    for (const text of [{ payload: euros }, { payload: '1', metadata: euros }]) {
      const jobs = Array.from({ length: 100 }, () => ({ dedupe: null, ...text }) as NewJob)
      const answer = write(jobs, { tx: {}, mayRepeat: false })
      for (const accepted of writes) accepted.commit()
      await expect(answer).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        message: 'items: must not exceed 256 MiB in total (got 301 MiB). Split the items into several calls.',
      })
    }
    expect(writes).toEqual([])
  })
})
