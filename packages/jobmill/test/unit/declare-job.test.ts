/** A declaration without a handler, its implementation, and the context that a mill injects. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  declareJob,
  defineJob,
  implement,
  type JobContext,
  jobmill,
  type JobDefinition,
  type JobHandle,
  withContext,
} from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { expectEnqueued, runJob, testMill } from '../../src/testing/index.ts'

const charge = declareJob({
  kind: 'payments.charge',
  queue: 'payments',
  priority: 3,
  maxAttempts: 4,
  timeout: '1m',
  payload: z.object({ cents: z.number(), at: z.iso.datetime().transform((text) => new Date(text)) }),
  result: z.object({ receipt: z.string() }),
})
const AT = '2026-05-04T09:12:31.000Z'

interface Database {
  charge(cents: number): string
}
const withDb = withContext<{ db: Database }>()

describe('N15 declareJob', () => {
  it('lets a process without the handler enqueue with the types, the schema and the options', async () => {
    await using web = await testMill({ start: false })
    const job = await web.enqueue(charge, { cents: 5, at: AT })
    expectTypeOf(job).toExtend<JobHandle<{ receipt: string }>>()
    expectEnqueued(web, charge, { cents: 5 })
    expect(web.enqueued(charge)).toMatchObject([{ queue: 'payments', priority: 3, maxAttempts: 4 }])
    await expect(web.enqueue(charge, { cents: '5' } as never)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })

  it('is implemented in another process, which runs the jobs', async () => {
    const chargeJob = implement(charge, async ({ payload }) => {
      expectTypeOf(payload).toEqualTypeOf<{ cents: number; at: Date }>()
      return { receipt: `${payload.cents} at ${payload.at.toISOString()}` }
    })
    expectTypeOf(chargeJob).toExtend<JobDefinition<{ cents: number; at: string }, { receipt: string }>>()
    await using worker = await testMill({ jobs: [chargeJob] })
    const job = await worker.enqueue(charge, { cents: 5, at: AT })
    await worker.drain()
    await expect(job.result()).resolves.toEqual({ receipt: `5 at ${AT}` })
    expect(chargeJob).toMatchObject({ kind: 'payments.charge', timeoutMs: 60_000, maxAttempts: 4 })
  })

  it('takes run, onDead and retryIf as an object', async () => {
    const dead: unknown[] = []
    const failing = implement(charge, {
      run: () => Promise.reject(new Error('declined')),
      retryIf: () => false,
      onDead({ payload }) {
        expectTypeOf(payload).toEqualTypeOf<{ cents: number; at: string }>()
        dead.push(payload)
      },
    })
    await using worker = await testMill({ jobs: [failing] })
    await worker.enqueue(charge, { cents: 5, at: AT })
    await worker.drain()
    expect(dead).toEqual([{ cents: 5, at: AT }])
  })

  it('types payload and result without a schema', async () => {
    const greet = declareJob<{ name: string }, string>({ kind: 'greet' })
    // @ts-expect-error a handler returns what the declaration says
    implement(greet, () => 5)
    await using mill = await testMill({ jobs: [implement(greet, ({ payload }) => `Hello ${payload.name}`)] })
    const job = await mill.enqueue(greet, { name: 'Ada' })
    expectTypeOf(job).toExtend<JobHandle<string>>()
    await mill.drain()
    await expect(job.result()).resolves.toBe('Hello Ada')
    // @ts-expect-error the payload has no name
    await expect(mill.enqueue(greet, {})).resolves.toBeDefined()
  })

  it.each([
    [
      'a handler',
      () => declareJob({ kind: 'x', run() {} } as never),
      'Pass it to implement(declaration, { run })',
    ],
    ['no declaration', () => implement('x' as never, () => {}), 'Pass the return value of declareJob'],
    ['no function', () => implement(charge, 5 as never), 'job payments.charge.run: must be a function'],
    [
      'an empty indexed path',
      () => declareJob({ kind: 'x', indexedPayload: [''] }),
      'job x.indexedPayload[0]: must be a non-empty string (got ""). Pass a path such as \'customer.id\'',
    ],
    [
      'an indexed path twice',
      () => declareJob({ kind: 'x', indexedPayload: ['a', 'a'] }),
      'job x.indexedPayload[1]: is duplicated',
    ],
    [
      'too many indexed paths',
      () => defineJob({ kind: 'x', indexedPayload: ['a', 'b', 'c', 'd', 'e', 'f'], run() {} }),
      'job x.indexedPayload: has more than 5 paths (got 6 paths). Pass at most 5',
    ],
    [
      'a long indexed path',
      () => declareJob({ kind: 'x', indexedPayload: ['a'.repeat(201)] }),
      'job x.indexedPayload[0]: is too long',
    ],
    [
      'one indexed path',
      () => declareJob({ kind: 'x', indexedPayload: 'a' as never }),
      'job x.indexedPayload: must be an array',
    ],
    [
      'events that are a list',
      () => declareJob({ kind: 'x', events: ['paid'] as never }),
      'job x.events: must be an object (got an array of 1 item). Pass a schema for each event',
    ],
    [
      'an event without a schema',
      () => defineJob({ kind: 'x', events: { paid: undefined as never }, run() {} }),
      'job x.events.paid: must be a schema (got undefined). Pass a Standard Schema, such as z.object',
    ],
    [
      'an event with a type instead of a schema',
      () => declareJob({ kind: 'x', events: { paid: 'number' as never } }),
      'job x.events.paid: must be a schema (got "number")',
    ],
    [
      'an event without a name',
      () => declareJob({ kind: 'x', events: { '': z.null() } }),
      'job x.events[""]: must be a non-empty string (got "")',
    ],
    [
      'an event with a name that is not printable',
      () => declareJob({ kind: 'x', events: { 'a\nb': z.null() } }),
      'has a control character or a lone surrogate',
    ],
    [
      'events of an implementation',
      () => implement(charge, { run() {}, events: {} } as never),
      'job payments.charge.events: is not an option',
    ],
    ['an unknown key', () => implement(charge, { run() {}, ondead() {} } as never), 'Did you mean "onDead"'],
    [
      'a declaration among the jobs',
      () => jobmill({ store: sqlite(':memory:'), jobs: [charge as never] }),
      'jobs[0]: has no handler. Pass implement(declaration, run)',
    ],
  ])('refuses %s with the fix', (_, act, text) => {
    expect(act).toThrow(text)
  })
})

it.each(['a b', 'a..b', '.a', 'a:b', String.raw`a\.b`, 'a\u0001'])(
  'N15 refuses the indexed path %j',
  (path) => {
    expect(() => declareJob({ kind: 'x', indexedPayload: ['größe.$id-1_a', path] })).toThrow(
      'job x.indexedPayload[1]: is not a valid payload path',
    )
  },
)

describe('N15 context', () => {
  const chargeWithDb = withDb.implement(charge, ({ payload, context }) => {
    expectTypeOf(context).toEqualTypeOf<{ db: Database }>()
    return { receipt: context.db.charge(payload.cents) }
  })
  const dead: string[] = []
  const failWithDb = withDb.defineJob({
    kind: 'fail',
    payload: z.object({ cents: z.number() }),
    maxAttempts: 1,
    run: ({ context }) => Promise.reject(new Error(context.db.charge(0))),
    onDead: ({ payload, context }) => void dead.push(context.db.charge(payload.cents)),
  })
  const db: Database = { charge: (cents) => `receipt of ${cents}` }

  it('is injected into handlers and onDead', async () => {
    await using mill = await testMill({ jobs: [chargeWithDb, failWithDb], context: { db } })
    const job = await mill.enqueue(charge, { cents: 7, at: AT })
    await mill.enqueue(failWithDb, { cents: 8 })
    await mill.drain()
    await expect(job.result()).resolves.toEqual({ receipt: 'receipt of 7' })
    expect(dead).toEqual(['receipt of 8'])
  })

  it('is passed to runJob', async () => {
    const { result } = await runJob(chargeWithDb, { cents: 9, at: AT }, { context: { db } })
    expect(result).toEqual({ receipt: 'receipt of 9' })
  })

  it('is inferred from an annotated handler', async () => {
    const annotated = defineJob({
      kind: 'annotated',
      run: ({ context }: JobContext<null, unknown, unknown, { db: Database }>) => context.db.charge(1),
    })
    expect((await runJob(annotated, null, { context: { db } })).result).toBe('receipt of 1')
    // @ts-expect-error the context has no db
    await runJob(annotated, null, { context: {} })
  })

  it('is checked against what the jobs need', () => {
    const store = sqlite(':memory:')
    const plain = defineJob({ kind: 'plain', run() {} })
    expect(jobmill({ store, jobs: [plain, chargeWithDb], context: { db } })).toBeDefined()
    // @ts-expect-error no context
    expect(jobmill({ store, jobs: [plain, chargeWithDb] })).toBeDefined()
    // @ts-expect-error a context without db
    expect(jobmill({ store, jobs: [plain, chargeWithDb], context: { name: 'x' } })).toBeDefined()
  })
})

describe('N15 a job without a payload', () => {
  const cleanUp = defineJob({ kind: 'clean-up', run: ({ payload }) => payload })
  const nullable = defineJob({ kind: 'nullable', payload: z.null(), run: ({ payload }) => payload })

  it('is enqueued without an argument, and its handler gets null', async () => {
    await using mill = await testMill({ jobs: [cleanUp, nullable] })
    const jobs = [await mill.enqueue(cleanUp), await mill.enqueue('clean-up'), await mill.enqueue(nullable)]
    await mill.drain()
    await expect(Promise.all(jobs.map((job) => job.result()))).resolves.toEqual([null, null, null])
  })

  it('is enqueued the same way by a handler and in inline mode', async () => {
    const parent = defineJob({
      kind: 'parent',
      async run({ enqueue }) {
        await enqueue(cleanUp)
        await enqueue('clean-up', null, { withCompletion: true })
      },
    })
    await using mill = await testMill({ jobs: [cleanUp, parent], inline: true })
    await mill.enqueue(parent)
    expect(mill.enqueued(cleanUp).map(({ payload }) => payload)).toEqual([null, null])
  })

  it('is refused if the kind has a payload, with what the schema expects', async () => {
    await using mill = await testMill({ start: false })
    // @ts-expect-error the payload is required
    await expect(mill.enqueue(charge)).rejects.toThrow('Pass an object with cents (number)')
    // An explicit undefined is more likely a mistake.
    await expect(mill.enqueue(cleanUp, undefined)).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
  })
})
