/** The handler context: payload, job, progress, log, enqueue and middleware. Runs on both stores. */
import * as v from 'valibot'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { runJob } from '../../src/testing/index.ts'
import { aJob } from '../../../conformance/src/index.ts'
import { rejection } from '../unit/support.ts'
import { attempts, lent, subjects } from './stores.ts'

const painting = (...known: [string, ...string[]]) =>
  defineJob({ kind: 'paint', payload: z.object({ color: z.enum(known) }), run: () => {} })

describe.each(subjects)('the context of a handler on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('has the job, the attempt and the instance', async () => {
    const contexts: JobContext[] = []
    const job = defineJob({
      kind: 'a',
      queue: 'q',
      priority: 3,
      maxAttempts: 2,
      run: (context) => void contexts.push(context),
    })
    const mill = await create({ jobs: [job], env: { JOBMILL_WORKER_PREFIX: 'acme', JOBMILL_WORKER_ID: '1' } })
    const startAt = mill.clock.now()
    const { id } = await mill.enqueue(
      job,
      { n: 1 },
      { tags: ['x'], metadata: { traceId: 't' }, maxAttempts: 4 },
    )
    await mill.drain()
    const [context] = contexts
    expect(context?.payload).toEqual({ n: 1 })
    expect(context?.job).toMatchObject({
      id,
      kind: 'a',
      queue: 'q',
      priority: 3,
      attempt: 1,
      maxAttempts: 4,
      crashes: 0,
      enqueuedAt: startAt,
      tags: ['x'],
      metadata: { traceId: 't' },
      orderKey: null,
    })
    expect(context?.job.token).toBeGreaterThan(0)
    expect(context?.attempt).toBe(1)
    expect(context?.instance).toEqual({ id: mill.instance.id, label: 'acme-worker-1' })
    expect(context?.signal.aborted).toBe(false)
  })

  test('A previousError returns the error of the previous attempt, and reads nothing in the first', async () => {
    const errors: (string | null)[] = []
    const reads: string[] = []
    const job = defineJob({
      kind: 'a',
      maxAttempts: 3,
      backoff: { fixed: 0 },
      async run({ attempt, previousError }) {
        errors.push(await previousError())
        if (attempt < 3) throw new Error(`attempt ${attempt}`)
      },
    })
    const mill = await create({ jobs: [job] }, (store) => ({
      ...store,
      results: (ids) => (reads.push(...ids), store.results(ids)),
    }))
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(errors).toEqual([null, 'Error: attempt 1', 'Error: attempt 2'])
    expect(reads).toEqual([id, id])
    const options = { attempt: 2, previousError: 'Error: slow' }
    await runJob(job, null, options)
    expect(errors.at(-1)).toBe('Error: slow')
  })

  test('a payload schema runs at enqueue and before the run, and the handler gets its output', async () => {
    const payloads: unknown[] = []
    const job = defineJob({
      kind: 'a',
      payload: z.object({
        at: z.iso.datetime().transform((text) => new Date(text)),
        n: z.number().default(7),
      }),
      run: ({ payload }) => void payloads.push(payload),
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { at: '2026-01-02T03:04:05Z' })
    await mill.drain()
    expect(payloads).toEqual([{ at: new Date('2026-01-02T03:04:05Z'), n: 7 }])
    // The store keeps the input, not the output of the schema: the schema of the next release may differ.
    expect((await mill.get(id))?.payload).toEqual({ at: '2026-01-02T03:04:05Z' })
    expect(await rejection(() => mill.enqueue(job, { at: 'yesterday' }))).toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'job.payload.at',
    })
    expect(
      await rejection(() =>
        mill.enqueueMany(job, [{ payload: { at: '2026-01-02T03:04:05Z' } }, { payload: { at: 'x' } }]),
      ),
    ).toMatchObject({ code: 'PAYLOAD_INVALID', field: 'items[1].payload.at' })
    // The same check applies to an enqueue by kind name, and a refused call writes nothing.
    expect(await rejection(() => mill.enqueue('a', 1))).toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect(mill.enqueued('a')).toHaveLength(1)
  })

  test('D5 a payload that the previous release does not know waits for a newer process, and spends no attempt', async () => {
    const old = await create({ jobs: [painting('red')] })
    const store = lent(old)
    const next = jobmill({
      store,
      jobs: [painting('red', 'green')],
      platform: old.platform,
      log: 'silent',
      env: {},
    })
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        // With a single attempt, a job that is charged for a mismatch would be dead.
        const color = n % 2 === 0 ? 'red' : 'green'
        const job = await next.enqueue('paint', { color }, { maxAttempts: 1 })
        return job.id
      }),
    )
    // Only the previous release is running.
    await old.clock.advance('15s')
    expect(await old.list({ state: 'dead' })).toMatchObject({ jobs: [] })
    await next.start()
    // Both processes claim, so a job may be returned several times before the new one gets it.
    const jobs = () => Promise.all(ids.map((id) => old.get(id)))
    for (let minute = 0; minute < 10 && (await jobs()).some((job) => job?.state !== 'done'); minute += 1)
      await old.clock.advance('1m')
    expect((await jobs()).map((job) => [job?.state, job?.attempt])).toEqual(ids.map(() => ['done', 1]))
    await next.stop()
  })

  test('D5 a replaced job counts as enqueued now: the payload of a newer release spends no attempt', async () => {
    const old = await create({ jobs: [painting('red')], start: false })
    const next = jobmill({
      store: lent(old),
      jobs: [painting('red', 'green')],
      platform: old.platform,
      log: 'silent',
      env: {},
    })
    const options = {
      maxAttempts: 1,
      delay: '1h',
      dedupe: { key: 'debounced', onConflict: 'replace' },
    } as const
    const { id } = await old.enqueue('paint', { color: 'red' }, options)
    await old.clock.advance('59m')
    await next.enqueue('paint', { color: 'green' }, { ...options, delay: '1s' })
    await old.start()
    await old.clock.advance('15s')
    expect(await old.get(id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    await next.stop()
  })

  test('D5 a payload that never validates is dead after its attempts, and the error names field and version', async () => {
    let runs = 0
    const job = defineJob({
      kind: 'a',
      payload: v.objectAsync({
        n: v.pipeAsync(
          v.number(),
          v.checkAsync(async (n) => n > 1, 'is too small'),
        ),
      }),
      run: () => (runs += 1),
    })
    const mill = await create({ jobs: [job], env: { JOBMILL_WORKER_VERSION: '1.4.0' }, start: false })
    await mill.queues()
    const [old] = await mill.store.enqueue([
      aJob({ kind: 'a', queue: 'default', payload: { n: 1 }, maxAttempts: 2 }),
    ])
    const id = old?.id ?? ''
    await mill.clock.advance('14m')
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    await mill.clock.advance('100s')
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 2 })
    const [outcome, error] = (await attempts(mill, id)).at(-1) ?? []
    expect(outcome).toBe('failed')
    expect(error).toContain('payload.n: does not match its schema: is too small')
    expect(error).toContain('version 1.4.0')
    expect(runs).toBe(0)
  })

  test('a result schema transforms the stored result, and a refusal leaves the job done', async () => {
    const job = defineJob({
      kind: 'a',
      result: z.object({ n: z.number().transform(String) }),
      run: ({ payload }: JobContext<number>) => ({ n: payload, secret: 1 }),
    })
    const mill = await create({ jobs: [job] })
    expect(await (await mill.enqueue(job, 5)).result()).toEqual({ n: '5' })
    const odd = await mill.enqueue('a', 'five')
    await mill.drain()
    expect(await mill.get(odd.id)).toMatchObject({ state: 'done' })
    expect(await rejection(() => odd.result())).toMatchObject({ code: 'RESULT_NOT_KEPT' })
  })

  test('progress and log are stored during the run, and the log stays with the attempt', async () => {
    const entered = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const job = defineJob({
      kind: 'a',
      async run({ progress, log }) {
        progress(10)
        progress({ step: 'two' })
        log('first', { n: 1 })
        log.warn('second')
        entered.resolve()
        await gate.promise
        log.error('third')
        throw new Error('no')
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await entered.promise
    await mill.clock.advance('1s')
    expect(await mill.get(id)).toMatchObject({
      state: 'running',
      progress: { step: 'two' },
      log: [
        { level: 'info', message: 'first', fields: { n: 1 } },
        { level: 'warn', message: 'second' },
      ],
    })
    expect(mill.events.find(({ type }) => type === 'progress')).toMatchObject({ id, value: { step: 'two' } })
    gate.resolve()
    await mill.drain()
    const [attempt] = await mill.history(id)
    expect(attempt?.log.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'first'],
      ['warn', 'second'],
      ['error', 'third'],
      ['error', 'the handler failed'],
    ])
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', log: [], progress: undefined })
  })

  test('the log is capped, says how much is missing, and accepts fields that are not JSON', async () => {
    const job = defineJob({
      kind: 'a',
      run({ log }) {
        log('odd', { big: 1n, self: globalThis })
        for (let n = 0; n < 2_000; n += 1) log(`line ${n} ${'x'.repeat(100)}`)
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    const [attempt] = await mill.history(id)
    expect(attempt?.log[0]).toMatchObject({
      message: 'odd',
      fields: { notKept: expect.any(String) as string },
    })
    expect(attempt?.log.at(-1)?.message).toMatch(/^\d+ more lines did not fit$/)
    expect(JSON.stringify(attempt?.log).length).toBeLessThan(70_000)
  })

  test('enqueue inside a handler writes at once, or with the completion and only then', async () => {
    const next = defineJob({ kind: 'next', run: ({ payload }: JobContext<string>) => payload })
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: '1m' },
      async run({ enqueue, enqueueMany, attempt }) {
        if (attempt === 1) await enqueue(next, 'at once')
        await enqueue(next, `with completion ${attempt}`, { withCompletion: true })
        await enqueueMany(next, [{ payload: `many ${attempt}` }], { withCompletion: true })
        if (attempt === 1) throw new Error('first fails')
      },
    })
    const mill = await create({ jobs: [job, next] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect((await mill.list({ kind: 'next' })).jobs).toHaveLength(1)
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    const { jobs } = await mill.list({ kind: 'next' })
    const payloads = await Promise.all(jobs.map(async (one) => (await mill.get(one.id))?.payload))
    expect(payloads).toHaveLength(3)
    expect(new Set(payloads)).toEqual(new Set(['at once', 'many 2', 'with completion 2']))
  })

  test('D8 N20 withCompletion is true or false, and a completion has at most 100,000 jobs', async () => {
    const refused: unknown[] = []
    const job = defineJob({
      kind: 'a',
      async run({ enqueue, enqueueMany }: JobContext) {
        for (const withCompletion of ['true', 1, null] as never[])
          refused.push(await rejection(() => enqueue('b', 1, { withCompletion })))
        const many = Array.from({ length: 10_000 }, () => ({ payload: 1 }))
        for (let call = 0; call < 10; call += 1) await enqueueMany('b', many, { withCompletion: true })
        refused.push(await rejection(() => enqueue('b', 1, { withCompletion: true })))
        throw new Dead('enough')
      },
    })
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, null)
    await mill.drain()
    const option = { code: 'OPTION_INVALID', field: 'job.withCompletion' }
    expect(refused).toMatchObject([option, option, option, { ...option, field: 'withCompletion' }])
    expect((await mill.list({ kind: 'b' })).jobs).toEqual([])
  })

  test('N enqueue refuses a kind or payload in its options, and inside a handler it names withCompletion', async () => {
    const refused: unknown[] = []
    const wrong = [{ kind: 'other' }, { payload: 2 }, { delya: 1 }] as object[]
    const job = defineJob({
      kind: 'a',
      async run({ enqueue, enqueueMany }: JobContext) {
        for (const options of wrong) refused.push(await rejection(() => enqueue('b', 1, options)))
        refused.push(
          await rejection(() => enqueueMany('b', [{ payload: 1 }], { withCompletio: true } as object)),
        )
      },
    })
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, null)
    await mill.drain()
    const message = expect.stringContaining('withCompletion') as string
    const inside = (field: string): object => ({ code: 'OPTION_UNKNOWN', field, message })
    expect(refused).toMatchObject([
      inside('job.kind'),
      inside('job.payload'),
      { code: 'OPTION_UNKNOWN', field: 'job.delya' },
      inside('options.withCompletio'),
    ])
    for (const [options, field] of [[wrong[0], 'job.kind'] as const, [wrong[1], 'job.payload'] as const])
      expect(await rejection(() => mill.enqueue('b', 1, options))).toMatchObject({
        code: 'OPTION_UNKNOWN',
        field,
      })
    expect(
      await rejection(() => mill.enqueueMany('b', [{ payload: 1, kind: 'other' } as { payload: number }])),
    ).toMatchObject({ code: 'OPTION_UNKNOWN', field: 'items[0].kind' })
    expect((await mill.list({ kind: 'b' })).jobs).toEqual([])
  })

  test('the log of the attempt has the stack of a thrown error, and now() is the clock of the mill', async () => {
    const times: number[] = []
    const job = defineJob({
      kind: 'a',
      run({ now }) {
        times.push(now())
        throw new TypeError('deep inside')
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    const [attempt] = await mill.history(id)
    expect(attempt?.error).toBe('TypeError: deep inside')
    expect(attempt?.log).toMatchObject([{ level: 'error', message: 'the handler failed' }])
    expect(String(attempt?.log[0]?.fields?.['stack'])).toContain('context.test.ts')
    expect(times).toEqual([mill.clock.now()])
  })

  test('a context writes nothing after its attempt has ended', async () => {
    let kept: JobContext | undefined
    const job = defineJob({ kind: 'a', run: (context: JobContext) => void (kept = context) })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    kept?.progress(1)
    kept?.log('late')
    await mill.clock.advance('2s')
    expect((await mill.history(id))[0]?.log).toEqual([])
    expect(await rejection(async () => kept?.complete({}))).toMatchObject({ code: 'ATTEMPT_ENDED' })
    expect(await rejection(async () => kept?.enqueue(job, null, { withCompletion: true }))).toMatchObject({
      code: 'ATTEMPT_ENDED',
    })
  })

  test('progress that is not JSON is refused by name', async () => {
    const job = defineJob({ kind: 'a', maxAttempts: 1, run: ({ progress }) => progress({ at: Number.NaN }) })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect((await mill.get(id))?.error).toContain('progress.at: JSON has no NaN')
  })

  test('middleware wraps every handler, the first outermost, and can change the result', async () => {
    const order: string[] = []
    const job = defineJob({
      kind: 'a',
      run: ({ payload }: JobContext<string>) => (order.push('run'), payload),
    })
    const mill = await create({
      jobs: [job],
      middleware: [
        async ({ job: { kind } }, next) => {
          order.push(`outer ${kind}`)
          const result = await next()
          order.push('outer ends')
          return `[${String(result)}]`
        },
        (_, next) => (order.push('inner'), next()),
        async ({ payload }, next) => {
          if (payload === 'twice') await next()
          return next()
        },
      ],
    })
    expect(await (await mill.enqueue(job, 'x')).result()).toBe('[x]')
    expect(order).toEqual(['outer a', 'inner', 'run', 'outer ends'])
    const twice = await mill.enqueue(job, 'twice')
    await mill.drain()
    expect((await mill.get(twice.id))?.error).toContain('next() twice')
  })
})
