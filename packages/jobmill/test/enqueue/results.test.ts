// Waiting for results: one query per period for all waiters, and none without waiters.
import { describe, expect, test } from 'vitest'
import { jobHandle } from '../../src/enqueue/job-handle.ts'
import { results as createResults } from '../../src/enqueue/results.ts'
import { JobmillError } from '../../src/job/errors.ts'
import type { JobResult } from '../../src/store/types/job-record.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { unavailable } from '../work/leases.ts'

const KEPT = { isKept: true, mayRunAgain: false }
const GONE = { isKept: false, mayRunAgain: false }
const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const done = (n: number, result: string | null = null): JobResult => ({
  id: id(n),
  state: 'done',
  result,
  error: null,
})

function bench() {
  const platform = testPlatform()
  const reads: { readonly at: number; readonly ids: readonly string[] }[] = []
  const known = new Map<string, JobResult>()
  const state = {
    read: async (ids: readonly string[]) => ids.map((one) => known.get(one) ?? running(one)),
  }
  const results = createResults(
    (ids) => {
      reads.push({ at: platform.monotonic(), ids })
      return state.read(ids)
    },
    { platform, everyMs: 200 },
  )
  const wait = (n: number, mayAppear = false) => jobHandle(id(n), { results, platform }, mayAppear)
  return { platform, reads, known, state, results, wait }
}

const running = (one: string): JobResult | null => ({ id: one, state: 'running', result: null, error: null })

describe('results', () => {
  test('are read at once, then once per period, in one statement for all waiting callers', async () => {
    const { platform, reads, known, wait } = bench()
    const first = [wait(1).result(), wait(2).result(), wait(2).result()]
    await platform.settled()
    const later = wait(3).result()
    await platform.advance(999)
    expect(reads.map(({ at }) => at)).toEqual([0, 200, 400, 600, 800])
    expect(reads.at(-1)?.ids).toEqual([id(1), id(2), id(3)])
    for (const n of [1, 2, 3]) known.set(id(n), done(n, String(n)))
    await platform.advance(1)
    expect(await Promise.all([...first, later])).toEqual([1, 2, 2, 3])
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1h')
    expect(reads).toHaveLength(6)
  })

  test('are read at most once per period, however callers come and go', async () => {
    const { platform, reads, known, wait } = bench()
    for (let n = 1; n <= 50; n += 1) {
      known.set(id(n), done(n))
      const result = wait(n).result()
      await platform.advance(20)
      await (n % 10 === 0 ? result : undefined)
    }
    for (const [n, { at }] of reads.entries()) {
      expect(at - (reads[n - 1]?.at ?? -200)).toBeGreaterThanOrEqual(200)
    }
    expect(reads.length).toBeGreaterThan(3)
  })

  test('are not read without a waiting caller, nor after the last one has left', async () => {
    const { platform, reads, wait } = bench()
    await platform.advance('1h')
    expect(reads).toEqual([])
    const leaving = new AbortController()
    const left = wait(1).result({ signal: leaving.signal })
    left.catch(() => {})
    await platform.advance(300)
    expect(reads).toHaveLength(2)
    leaving.abort(new Error('no longer'))
    await expect(left).rejects.toThrow('no longer')
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1h')
    expect(reads).toHaveLength(2)
  })

  test('of jobs that end in this process are returned without a read', async () => {
    const { platform, reads, results, wait } = bench()
    const result = wait(1).result({ timeout: '1h' })
    results.ended(done(1, '"here"'), KEPT)
    expect(await result).toBe('here')
    await platform.settled()
    expect([reads.length, platform.pendingTimers]).toEqual([0, 0])
    results.ended(done(2), KEPT)
  })

  test('of jobs that were just done here are returned without a read, and others are not', async () => {
    const { platform, reads, known, results, wait } = bench()
    // Results are not cached before a caller awaits a job for the first time.
    results.ended(done(4, '"unknown"'), KEPT)
    results.ended(done(5, '"gone soon"'), GONE)
    known.set(id(4), done(4, '"asked"'))
    expect(await wait(4).result()).toBe('asked')
    reads.length = 0
    expect(await wait(5).result()).toBe('gone soon')
    results.ended(done(1, '"kept"'), KEPT)
    results.ended({ id: id(2), state: 'dead', result: null, error: 'no' }, KEPT)
    results.ended(done(3, JSON.stringify('x'.repeat(5_000))), KEPT)
    expect(await wait(1).result()).toBe('kept')
    expect(reads).toEqual([])
    results.ended(done(6, '"rewound"'), { isKept: true, mayRunAgain: true })
    // A dead job may have been retried since, one with steps may have been rewound, and large results are not
    // cached.
    for (const n of [2, 3, 6]) known.set(id(n), done(n, '"asked"'))
    const asked = Promise.all([2, 3, 6].map((n) => wait(n).result()))
    await platform.advance(200)
    expect(await asked).toEqual(['asked', 'asked', 'asked'])
    for (let n = 100; n < 20_000; n += 1) results.ended(done(n), KEPT)
    known.set(id(1), done(1, '"asked"'))
    const late = wait(1).result()
    await platform.advance(200)
    expect(await late).toBe('asked')
  })

  test('are awaited through temporary database errors, but not through permanent ones', async () => {
    const { platform, reads, known, state, wait } = bench()
    const { read } = state
    const result = wait(1).result()
    state.read = () => Promise.reject(unavailable())
    await platform.advance('2s')
    expect(reads).toHaveLength(11)
    state.read = read
    known.set(id(1), done(1, '1'))
    await platform.advance(200)
    expect(await result).toBe(1)
    state.read = () => Promise.reject(new JobmillError('STORE_CLOSED', 'the store is not open'))
    const hopeless = [wait(2).result(), wait(3).result()]
    for (const one of hopeless) one.catch(() => {})
    await platform.advance(200)
    for (const one of hopeless) expect((await rejection(() => one)).code).toBe('STORE_CLOSED')
    expect(platform.pendingTimers).toBe(0)
  })

  test('of a missing job are unknown at once, unless the job may still appear', async () => {
    const { platform, known, state, wait } = bench()
    state.read = async (ids) => ids.map((one) => known.get(one) ?? null)
    expect((await rejection(() => wait(1).result())).code).toBe('JOB_UNKNOWN')
    const appears = wait(2, true).result()
    await platform.advance('1s')
    known.set(id(2), done(2, '"appeared"'))
    await platform.advance(200)
    expect(await appears).toBe('appeared')
  })

  test('are awaited no longer than the timeout, and the timer ends with the result', async () => {
    const { platform, known, wait } = bench()
    const late = wait(1).result({ timeout: '1s' })
    late.catch(() => {})
    await platform.advance(999)
    const patient = wait(2).result({ timeout: '1h' })
    await platform.advance(1)
    expect((await rejection(() => late)).code).toBe('RESULT_TIMEOUT')
    known.set(id(2), done(2))
    await platform.advance(200)
    expect(await patient).toBeUndefined()
    expect(platform.pendingTimers).toBe(0)
  })

  test('reject if the job is dead, cancelled, or done without a result that could be stored', async () => {
    const { known, wait } = bench()
    known.set(id(1), { id: id(1), state: 'dead', result: null, error: 'Error: no' })
    known.set(id(2), { id: id(2), state: 'cancelled', result: null, error: 'not wanted' })
    known.set(id(3), { id: id(3), state: 'done', result: null, error: 'too large' })
    const errors = [1, 2, 3].map((n) => rejection(() => wait(n).result()))
    expect((await Promise.all(errors)).map(({ code, message }) => `${code} ${message}`)).toEqual([
      `JOB_DEAD job ${id(1)} is dead: Error: no.`,
      `JOB_CANCELLED job ${id(2)} was cancelled: not wanted.`,
      `RESULT_NOT_KEPT job ${id(3)} is done, but its result could not be stored: too large.`,
    ])
  })

  test('reject for every caller when the process stops, between two reads', async () => {
    const { platform, reads, results, wait } = bench()
    const waiting = wait(1).result()
    waiting.catch(() => {})
    await platform.advance(300)
    results.stop(new JobmillError('MILL_STOPPED', 'this mill was stopped'))
    expect((await rejection(() => waiting)).code).toBe('MILL_STOPPED')
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1h')
    expect(reads).toHaveLength(2)
  })

  test('reject for every caller when the process stops, and leave no timer, even during a read', async () => {
    const { platform, reads, state, results, wait } = bench()
    const answer = Promise.withResolvers<(JobResult | null)[]>()
    state.read = () => answer.promise
    const waiting = [wait(1).result({ timeout: '1h' }), wait(2).result()]
    for (const one of waiting) one.catch(() => {})
    await platform.settled()
    results.stop(new JobmillError('MILL_STOPPED', 'this mill was stopped'))
    for (const one of waiting) expect((await rejection(() => one)).code).toBe('MILL_STOPPED')
    answer.resolve([done(1), done(2)])
    await platform.advance('1h')
    expect([reads.length, platform.pendingTimers]).toEqual([1, 0])
  })
})
