/** Every way in which a handler can end, and the resulting state of the job. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext, Snooze } from '../../src/index.ts'
import { attempts, happened, subjects } from './stores.ts'

function explode(): never {
  throw new Error('after it settled')
}
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
function unreadable(): Error {
  return Object.defineProperty(new Error('odd'), 'stack', { get: explode })
}
/** Handlers can reject with a value that is not an Error. */
const rejecting = (reason: unknown) => (): Promise<never> => {
  throw reason
}
/** A thenable that resolves and then throws. */
class Thenable {
  // oxlint-disable-next-line unicorn/no-thenable -- that is what this is about
  then(resolve: (value: string) => void): never {
    resolve('kept')
    return explode()
  }
}

describe.each(subjects)('the outcomes of a job on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('returned: the job is done, with its result', async () => {
    const job = defineJob({ kind: 'a', run: () => ({ n: 1 }) })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: { n: 1 }, attempt: 1, error: null })
    expect(happened(mill, id)).toEqual(expect.arrayContaining(['enqueued', 'started', 'finished']))
  })

  test('target 1: failed: the job is retried within the backoff, never stuck, and leaves no timer or entry', async () => {
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: '10s' },
      run({ attempt }) {
        if (attempt === 1) throw new Error('sync')
        if (attempt === 2) return Promise.reject(new Error('async'))
        return attempt
      },
    })
    const mill = await create({ jobs: [job] })
    await mill.drain()
    const timers = mill.platform.pendingTimers
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1, error: 'Error: sync' })
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 3, attempt: 3, error: null })
    expect(await attempts(mill, id)).toEqual([
      ['failed', 'Error: sync'],
      ['failed', 'Error: async'],
      ['returned', null],
    ])
    expect(mill.platform.pendingTimers).toBe(timers)
    expect(await mill.stop()).toMatchObject({ finished: 0, returned: 0, interrupted: 0 })
    expect(mill.platform.pendingTimers).toBe(0)
  })

  const ways: [string, () => unknown, object][] = [
    ['a text', rejecting('no reason'), { state: 'scheduled', error: 'no reason' }],
    ['nothing', rejecting(undefined), { state: 'scheduled', error: 'undefined' }],
    ['null', rejecting(null), { state: 'scheduled', error: 'null' }],
    ['a value that cannot be read', rejecting(new Proxy({}, { get: explode })), { state: 'scheduled' }],
    ['a proxy that was revoked', rejecting(revoked()), { state: 'scheduled' }],
    ['an error whose stack cannot be read', rejecting(unreadable()), { state: 'scheduled' }],
    ['after it settled', () => new Thenable(), { state: 'done', result: 'kept' }],
    [
      'a promise that rejects after it resolved',
      () => new Promise((resolve, reject) => (resolve(1), reject(new Error('late')))),
      { state: 'done', result: 1 },
    ],
  ]
  test.each(ways)(
    'target 1: a handler that throws or rejects with %s leaves nothing behind',
    async (_, run, expected) => {
      const job = defineJob({ kind: 'a', run })
      const mill = await create({ jobs: [job] })
      const { id } = await mill.enqueue(job, null)
      await mill.drain()
      expect(await mill.get(id)).toMatchObject(expected)
      await mill.stop()
      expect(mill.platform.pendingTimers).toBe(0)
    },
  )

  test('a job is dead after its last attempt with its history, and at once after Dead', async () => {
    const job = defineJob({
      kind: 'a',
      maxAttempts: 3,
      backoff: { fixed: 0 },
      run({ payload }: JobContext<string>) {
        if (payload === 'dead') throw new Dead('no such user', { cause: new Error('404') })
        throw new Error('again')
      },
    })
    const mill = await create({ jobs: [job] })
    const exhausted = await mill.enqueue(job, 'fail')
    const gone = await mill.enqueue(job, 'dead')
    await mill.drain({ scheduled: true })
    expect(await mill.get(exhausted.id)).toMatchObject({ state: 'dead', attempt: 3, error: 'Error: again' })
    expect(await attempts(mill, exhausted.id)).toHaveLength(3)
    expect(await mill.get(gone.id)).toMatchObject({ state: 'dead', attempt: 1 })
    expect(await attempts(mill, gone.id)).toEqual([
      ['failed-permanently', 'Dead: no such user\n  caused by: Error: 404'],
    ])
    await expect(exhausted.result()).rejects.toMatchObject({ code: 'JOB_DEAD' })
  })

  test('retryIf of a kind decides which errors are retried; a retryIf that throws means yes', async () => {
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: 0 },
      retryIf(error, { attempt }) {
        if (attempt === 1) throw new Error('cannot tell')
        return (error as Error).message !== 'fatal'
      },
      run({ attempt }) {
        throw new Error(attempt === 3 ? 'fatal' : 'passing')
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 3 })
  })

  test('a retryIf that returns a promise means yes, and its rejection crashes nothing', async () => {
    const retryIf = (() => Promise.reject(new Error('late'))) as unknown as () => boolean
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: 0 },
      maxAttempts: 2,
      retryIf,
      run: () => Promise.reject(new Error('no')),
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 2 })
  })

  test('a middleware that does not await the handler leaves no unhandled rejection', async () => {
    const job = defineJob({ kind: 'a', run: () => Promise.reject(new Error('no')) })
    const mill = await create({ jobs: [job], middleware: [(_, next) => (void next(), 'its own')] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'its own' })
  })

  test('backoff: an operator can switch the backoff of a queue off, and a failed job is due again at once', async () => {
    const job = defineJob({ kind: 'a', run: () => Promise.reject(new Error('no')) })
    const mill = await create({ jobs: [job], queues: { default: { backoff: { base: '1h', max: '2h' } } } })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    await mill.changeQueue('default', { backoff: { enabled: false } })
    await mill.clock.advance('1s')
    await mill.runNow(id)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 5 })
  })

  test('backoff: with full jitter every retry is within the base, doubled per failure', async () => {
    const job = defineJob({ kind: 'a', maxAttempts: 6, run: () => Promise.reject(new Error('no')) })
    const mill = await create({ jobs: [job], queues: { default: { backoff: { base: '10s', max: '60s' } } } })
    const jobs = inFull(10, 4)
    await mill.enqueueMany(
      job,
      Array.from({ length: jobs }, () => ({ payload: null })),
    )
    await mill.drain({ scheduled: true })
    const retries = mill.events.flatMap((event) => (event.type === 'retried' ? [event] : []))
    expect(retries).toHaveLength(5 * jobs)
    for (const { attempt, delayMs } of retries)
      expect(delayMs).toBeLessThanOrEqual(Math.min(60_000, 10_000 * 2 ** (attempt - 1)))
    expect(new Set(retries.map(({ delayMs }) => delayMs)).size).toBeGreaterThan(10)
  })

  test('snoozed: the job is due again later, and spends no attempt', async () => {
    let runs = 0
    const job = defineJob({
      kind: 'a',
      maxAttempts: 1,
      run({ snooze, attempt }) {
        runs += 1
        if (runs === 1) snooze('1m')
        if (runs === 2) throw new Snooze('1m')
        return attempt
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    await mill.clock.advance('59s')
    expect(runs).toBe(1)
    await mill.clock.advance('90s')
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
    expect((await attempts(mill, id)).map(([outcome]) => outcome)).toEqual(['snoozed', 'snoozed', 'returned'])
    expect(happened(mill, id).filter((type) => type === 'snoozed')).toHaveLength(2)
  })

  test.each([
    ['that is not JSON', (): unknown => ({ n: Number.NaN }), 'JSON has no NaN'],
    ['too big', (): unknown => 'x'.repeat(1_100_000), 'exceeds 1048576 bytes'],
    ['that is a function', (): unknown => () => 1, 'result'],
  ])('a result %s leaves the job done, with the reason', async (_, run, reason) => {
    const job = defineJob({ kind: 'a', run })
    const mill = await create({ jobs: [job] })
    const handle = await mill.enqueue(job, null)
    await mill.drain()
    const record = await mill.get(handle.id)
    expect(record).toMatchObject({ state: 'done', result: undefined })
    expect(record?.error).toContain(reason)
    await expect(handle.result()).rejects.toMatchObject({ code: 'RESULT_NOT_KEPT' })
    expect(mill.events.find(({ type }) => type === 'finished')).toMatchObject({ notKept: record?.error })
  })
})
