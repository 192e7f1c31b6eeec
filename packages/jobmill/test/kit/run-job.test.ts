// One handler in isolation: every outcome and every effect.
import { z } from 'zod'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { Dead, defineJob, Interruption, type JobContext, Snooze, Throttled } from '../../src/index.ts'
import { runJob, testMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { echo } from './support.ts'

const throwing = (error: unknown) =>
  defineJob({
    kind: 'throwing',
    run: () => {
      throw error
    },
  })

describe('runJob', () => {
  test('returns the value of the handler, as result() would', async () => {
    const run = await runJob(echo, { n: 4 })
    expect(run).toEqual({ outcome: 'returned', result: 4, progress: [], log: [], enqueued: [], steps: [] })
    expectTypeOf(run.result).toEqualTypeOf<number | undefined>()
    const dated = defineJob({ kind: 'dated', run: () => ({ at: new Date(0) }) })
    expect((await runJob(dated, null)).result).toEqual({ at: '1970-01-01T00:00:00.000Z' })
    expect(await runJob(defineJob({ kind: 'none', run: () => {} }), null)).not.toHaveProperty('result')
  })

  test.each([
    ['failed', new Error('no')],
    ['snoozed', new Snooze('1h')],
    ['throttled', new Throttled({ retryAfter: '5s' })],
    ['failed-permanently', new Dead('no use')],
  ])('reports that the job %s, and what was thrown', async (outcome, error) => {
    const run = await runJob(throwing(error), null)
    expect(run).toMatchObject({ outcome })
    expect(run.error).toBe(error)
  })

  test('validates the payload like a real run: after JSON, with its schema', async () => {
    const job = defineJob({
      kind: 'strict',
      payload: z.object({ at: z.coerce.date(), size: z.number().default(3) }),
      run: ({ payload }) => `${payload.at.getTime()} ${payload.size}`,
    })
    expect((await runJob(job, { at: new Date(5) })).result).toBe('5 3')
    const unfit = await runJob(job, { at: 'never' })
    expect(unfit).toMatchObject({ outcome: 'failed', error: { code: 'PAYLOAD_INVALID' } })
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const loose = defineJob({ kind: 'loose', run: () => {} })
    expect((await rejection(() => runJob(loose, cyclic))).code).toBe('PAYLOAD_NOT_JSON')
  })

  test('an invalid result leaves the outcome returned, with the reason', async () => {
    const job = defineJob({ kind: 'odd', result: z.number(), run: () => 'text' as unknown as number })
    const run = await runJob(job, null)
    expect(run.outcome).toBe('returned')
    expect(run.error).toContain('does not match its schema')
    expect(run).not.toHaveProperty('result')
  })

  test('records all progress and logs', async () => {
    const job = defineJob({
      kind: 'chatty',
      run({ progress, log }) {
        log('begins', { n: 1 })
        progress(10)
        progress({ step: 'two' })
        log.warn('slow')
      },
    })
    const run = await runJob(job, null)
    expect(run.progress).toEqual([10, { step: 'two' }])
    expect(run.log).toMatchObject([
      { level: 'info', message: 'begins', fields: { n: 1 } },
      { level: 'warn', message: 'slow' },
    ])
  })

  test('records validated enqueues; those with the completion only if the handler returned', async () => {
    const strict = defineJob({ kind: 'strict', payload: z.object({ n: z.number() }), run: () => {} })
    const job = defineJob({
      kind: 'parent',
      queue: 'parents',
      async run({ payload, enqueue, enqueueMany }: JobContext<{ fail: boolean }>) {
        await enqueue(echo, { n: 1 }, { delay: '5m', queue: 'slow' })
        await enqueueMany(strict, [{ payload: { n: 2 } }, { payload: { n: 3 } }])
        await enqueue(echo, { n: 4 }, { withCompletion: true })
        if (payload.fail) await enqueue(strict, { n: 'no' } as never)
      },
    })
    const returned = await runJob(job, { fail: false })
    expect(returned.enqueued).toMatchObject([
      { kind: 'echo', queue: 'slow', payload: { n: 1 }, delayMs: 300_000, withCompletion: false },
      { kind: 'strict', queue: 'default', payload: { n: 2 } },
      { kind: 'strict', payload: { n: 3 } },
      { kind: 'echo', payload: { n: 4 }, withCompletion: true },
    ])
    const threw = await runJob(job, { fail: true })
    expect(threw).toMatchObject({ outcome: 'failed', error: { code: 'PAYLOAD_INVALID' } })
    expect(threw.enqueued).toHaveLength(3)
  })

  test('N6 runJob and testMill record every option of an enqueue', async () => {
    const child = defineJob({ kind: 'child', priority: 3, run: () => {} })
    const options = {
      queue: 'mail',
      priority: -2,
      maxAttempts: 9,
      runAt: 1_000,
      timeout: '5s',
      tags: ['a', 'b'],
      metadata: { trace: 'x' },
      orderKey: 'user 7',
    } as const
    const parent = defineJob({
      kind: 'parent',
      async run({ enqueue }) {
        await enqueue(child, { n: 1 }, { ...options, dedupeKey: 'a key' })
        await enqueue(child, { n: 2 }, { dedupe: { key: 'b key', scope: 'queue', holdFor: '1m' } })
      },
    })
    const everything = {
      kind: 'child',
      queue: 'mail',
      payload: { n: 1 },
      priority: -2,
      maxAttempts: 9,
      delayMs: 0,
      dueAt: 1_000,
      timeoutMs: 5_000,
      tags: ['a', 'b'],
      metadata: { trace: 'x' },
      orderKey: 'user 7',
      dedupeKey: 'a key',
      dedupe: { key: 'a key', scope: 'global', holdMs: 0, holdAfter: 'done', onConflict: 'keep' },
    }
    const second = { priority: 3, dueAt: null, timeoutMs: null, tags: [], metadata: null, orderKey: null }
    const scoped = { dedupeKey: 'b key', dedupe: { scope: 'queue', key: 'b key', holdMs: 60_000 } }
    const { enqueued } = await runJob(parent, null)
    expect(enqueued).toMatchObject([everything, { ...second, ...scoped }])
    await using mill = await testMill({ jobs: [parent] })
    await mill.enqueue(parent, null)
    await mill.drain()
    expect(mill.enqueued(child)).toMatchObject([everything, { ...second, ...scoped }])
    expect(mill.enqueued(parent)[0]).toMatchObject({ dedupeKey: null, dedupe: null })
  })

  test('rejects a handler that awaits the result of an enqueued job, because no worker runs it', async () => {
    const job = defineJob({
      kind: 'waits',
      run: async ({ enqueue }): Promise<number> => (await enqueue(echo, { n: 1 })).result(),
    })
    expect(await runJob(job, null)).toMatchObject({ outcome: 'failed', error: { code: 'MILL_NOT_STARTED' } })
  })

  test('passes the given attempt and job to the handler', async () => {
    const job = defineJob({
      kind: 'curious',
      queue: 'mine',
      maxAttempts: 9,
      run: ({ attempt, job: { queue, maxAttempts, tags, metadata, crashes } }) => [
        attempt,
        queue,
        maxAttempts,
        tags,
        metadata,
        crashes,
      ],
    })
    expect((await runJob(job, null)).result).toEqual([1, 'mine', 9, [], null, 0])
    const jobFields = { tags: ['a'], metadata: { trace: 'x' }, crashes: 1, queue: 'other' }
    const { result } = await runJob(job, null, { attempt: 3, job: jobFields })
    expect(result).toEqual([3, 'other', 9, ['a'], { trace: 'x' }, 1])
  })

  test('passes a signal on, with its reason', async () => {
    const waits = defineJob({
      kind: 'waits',
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          stop.abort(reason)
        }),
    })
    let reason: Error = new Error('enough')
    let stop = new AbortController()
    const cancelled = await runJob(waits, null, { signal: stop.signal })
    expect(cancelled).toMatchObject({ outcome: 'cancelled', error: { why: 'cancelled', message: 'enough' } })
    reason = new Interruption('shutdown', 'deploy')
    stop = new AbortController()
    expect(await runJob(waits, null, { signal: stop.signal })).toMatchObject({ outcome: 'interrupted' })
    const looks = defineJob({ kind: 'looks', run: ({ signal }) => signal.aborted })
    expect((await runJob(looks, null, { signal: AbortSignal.abort() })).result).toBe(true)
  })

  test('complete ends the job with the given result', async () => {
    const job = defineJob({
      kind: 'completes',
      async run({ complete }) {
        await complete({ query: () => {} }, { rows: 1 })
      },
    })
    expect(await runJob(job, null)).toMatchObject({ outcome: 'returned', result: { rows: 1 } })
  })

  test('starts and stops the service of the handler', async () => {
    const happened: string[] = []
    const job = defineJob({
      kind: 'served',
      service: {
        start: async () => void happened.push('start'),
        stop: async () => void happened.push('stop'),
      },
      run: () => void happened.push('run'),
    })
    await runJob(job, null)
    expect(happened).toEqual(['start', 'run', 'stop'])
  })

  test('refuses unknown options', async () => {
    expect((await rejection(() => runJob(echo, { n: 1 }, { attempts: 2 } as object))).message).toContain(
      '"attempt"',
    )
    expect((await rejection(() => runJob(echo, { n: 1 }, { attempt: 0 }))).field).toBe('options.attempt')
    // @ts-expect-error: not its payload
    expect((await runJob(echo, { m: 1 })).outcome).toBe('returned')
  })
})
