/**
 * The definition determines the types of enqueue, run and result without a cast. The compiler checks them;
 * the file also runs, so that it counts as a test.
 */
import * as v from 'valibot'
import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  declareJob,
  defineJob,
  implement,
  type JobContext,
  jobmill,
  type Mill,
  type FullStore,
  type ScheduleOptions,
} from '../../src/index.ts'

const withZod = defineJob({
  kind: 'zod',
  payload: z.object({ to: z.string(), at: z.iso.datetime().transform((text) => new Date(text)) }),
  async run({ payload }) {
    expectTypeOf(payload).toEqualTypeOf<{ to: string; at: Date }>()
    return { length: payload.to.length }
  },
  onDead({ payload }) {
    expectTypeOf(payload).toEqualTypeOf<{ to: string; at: string }>()
  },
})
const withValibot = defineJob({
  kind: 'valibot',
  payload: v.object({ n: v.number() }),
  result: v.object({ doubled: v.number() }),
  run: ({ payload }) => ({ doubled: payload.n * 2 }),
})
const plain = defineJob({
  kind: 'plain',
  run: ({ payload }: JobContext<{ id: number }>) => payload.id,
})
const dated = defineJob({
  kind: 'dated',
  run: () => ({ at: new Date(0), list: [new Date(0)], u: 1 as number | undefined }),
})
const nothing = defineJob({ kind: 'nothing', async run() {} })
const untyped = defineJob({ kind: 'untyped', run: ({ payload }) => String(payload) })

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
  readonly parent?: Tree | null
}
const recursive = defineJob({ kind: 'tree', run: ({ payload }: JobContext<Tree>) => payload.children.length })
const loose = defineJob({
  kind: 'loose',
  run: ({
    payload,
  }: JobContext<{ a?: number; b: string | undefined; c: unknown; d: Record<string, boolean[]> }>) =>
    payload.b,
})

class Money {
  readonly cents: number = 0
  double(): number {
    return this.cents * 2
  }
}

/** Never called. N9: the compiler refuses values that JSON would change. */
function refused(): void {
  // @ts-expect-error a payload type alone would make the result unknown
  defineJob<{ id: number }>({ kind: 'half', run: ({ payload }: JobContext<{ id: number }>) => payload.id })
  // @ts-expect-error a Date is a string after JSON
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ at: Date }>) => payload.at })
  // @ts-expect-error deep down too
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ list: { at?: Date }[] }>) => payload.list })
  // @ts-expect-error a Map is {} after JSON
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ map: Map<string, number> }>) => payload.map })
  // @ts-expect-error a Set is {} after JSON
  defineJob({ kind: 'x', run: ({ payload }: JobContext<Set<string>>) => payload.size })
  // @ts-expect-error JSON has no bigint
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ n: bigint }>) => payload.n })
  // @ts-expect-error a function is dropped
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ call: () => void }>) => payload.call() })
  // @ts-expect-error an instance loses its class
  defineJob({ kind: 'x', run: ({ payload }: JobContext<{ price: Money }>) => payload.price.double() })
  // @ts-expect-error undefined is no item of an array
  defineJob({ kind: 'x', run: ({ payload }: JobContext<(number | undefined)[]>) => payload.length })
  // @ts-expect-error bytes are {} after JSON
  defineJob({ kind: 'x', run: ({ payload }: JobContext<Uint8Array>) => payload.length })
  // @ts-expect-error the schema would be given a string
  defineJob({ kind: 'x', payload: z.object({ at: z.date() }), run: () => null })
  defineJob({ kind: 'x', payload: z.object({ at: z.coerce.date() }), run: ({ payload }) => payload.at })
}

/** Never called. Paths of `indexedPayload` must lead to a string, a number or a boolean. */
function indexed(): void {
  const order = z.object({
    customer: z.object({ id: z.string().optional(), 'full name': z.string() }),
    lines: z.array(z.object({ sku: z.string(), tags: z.array(z.string()) })),
    state: z.enum(['open', 'paid']).nullable(),
    ref: z.union([z.string(), z.object({ url: z.string() })]),
    extra: z.record(z.string(), z.unknown()),
  })
  declareJob({
    kind: 'x',
    payload: order,
    indexedPayload: ['customer.id', 'lines.0.sku', 'state', 'ref.url', 'extra.a.b'],
  })
  // @ts-expect-error no such path
  declareJob({ kind: 'x', payload: order, indexedPayload: ['customer.ids'] })
  // @ts-expect-error an object has no index entry
  defineJob({ kind: 'x', payload: order, indexedPayload: ['customer'], run: () => null })
  // @ts-expect-error a list has none
  declareJob({ kind: 'x', payload: order, indexedPayload: ['lines.0.tags'] })
  declareJob<{ a: { b: number } }>({ kind: 'x', indexedPayload: ['a.b'] })
  // @ts-expect-error no such path
  declareJob<{ a: { b: number } }>({ kind: 'x', indexedPayload: ['a.c'] })
  declareJob({ kind: 'x', indexedPayload: ['any.path'] })
  defineJob({
    kind: 'x',
    indexedPayload: ['name', 'parent.parent.name', 'children.0.name'],
    run: ({ payload }: JobContext<Tree>) => payload.name,
  })
  // @ts-expect-error no such path, in a recursive type
  defineJob({ kind: 'x', indexedPayload: ['children.name'], run: ({ payload }: JobContext<Tree>) => payload })
}

const DONE = z.object({
  ok: z.boolean(),
  at: z
    .string()
    .transform((text) => text.length)
    .optional(),
})
const PAYLOAD = z.object({ n: z.number() })

/** Never called. N9: with a schema of the result, handlers may be asynchronous, and results must match. */
async function withResultSchema(mill: Mill): Promise<void> {
  const jobs = [
    defineJob({ kind: 'x', result: DONE, run: () => ({ ok: true }) }),
    defineJob({ kind: 'x', result: DONE, run: async () => ({ ok: true, at: 'noon' }) }),
    defineJob({
      kind: 'x',
      result: DONE,
      run: async ({ payload: _ }: JobContext) => ({ ok: true }),
    }),
  ]
  for (const job of jobs)
    expectTypeOf(await (await mill.enqueue(job, null)).result()).toEqualTypeOf<{
      ok: boolean
      at?: number | undefined
    }>()
  const typed = [
    defineJob({ kind: 'x', payload: PAYLOAD, result: DONE, run: ({ payload }) => ({ ok: payload.n > 0 }) }),
    defineJob({
      kind: 'x',
      payload: PAYLOAD,
      result: DONE,
      run: async ({ payload }) => ({ ok: payload.n > 0 }),
    }),
    defineJob({
      kind: 'x',
      payload: PAYLOAD,
      result: DONE,
      async run({ payload, signal }) {
        expectTypeOf(payload).toEqualTypeOf<{ n: number }>()
        if (signal.aborted) throw new Error('stopped')
        return { ok: true }
      },
    }),
  ]
  for (const job of typed)
    expectTypeOf(await (await mill.enqueue(job, { n: 1 })).result()).toEqualTypeOf<{
      ok: boolean
      at?: number | undefined
    }>()
  const union = z.object({ state: z.enum(['new', 'old']) })
  defineJob({ kind: 'x', result: union, run: async () => ({ state: 'new' as const }) })
  // @ts-expect-error not a state
  defineJob({ kind: 'x', result: union, run: async () => ({ state: 'older' }) })
  // @ts-expect-error not the result
  defineJob({ kind: 'x', result: DONE, run: () => ({ ok: 'yes' }) })
  // @ts-expect-error not the result
  defineJob({ kind: 'x', result: DONE, run: async () => ({ ok: 'yes' }) })
  // @ts-expect-error no result
  defineJob({ kind: 'x', result: DONE, async run() {} })
  // @ts-expect-error not the result
  defineJob({ kind: 'x', payload: PAYLOAD, result: DONE, run: () => ({ ok: 'yes' }) })
  // @ts-expect-error not the result
  defineJob({ kind: 'x', payload: PAYLOAD, result: DONE, run: async () => ({ ok: 'yes' }) })
  const declared = declareJob({ kind: 'x', result: DONE })
  implement(declared, async ({ complete }) => {
    await complete({}, { ok: true })
    // @ts-expect-error not the result
    await complete({}, { ok: 'yes' })
    return { ok: true }
  })
  implement(declared, { run: async ({ complete }: JobContext) => (await complete({}, 1), { ok: true }) })
  // @ts-expect-error not the result
  implement(declared, async () => ({ ok: 'yes' }))
}

interface Client {
  query(text: string): Promise<void>
}

/**
 * Never called. N9: the payload types of schedules follow from their jobs, and complete() from the context.
 */
async function typed(mill: Mill, store: FullStore): Promise<void> {
  jobmill({
    store,
    schedules: [
      { name: 'a', job: plain, when: '@daily', payload: { id: 1 } },
      { name: 'b', job: withValibot, when: '@daily', payload: { n: 1 } },
      { name: 'c', job: 'by.name', when: '@daily', payload: { any: 'thing' } },
    ],
  })
  // @ts-expect-error not what the job takes
  jobmill({ store, schedules: [{ name: 'a', job: plain, when: '@daily', payload: { id: 'x' } }] })
  await mill.schedules.create({ name: 'a', job: plain, when: '@daily', payload: { id: 1 } })
  // @ts-expect-error not what the job takes
  await mill.schedules.create({ name: 'a', job: plain, when: '@daily', payload: { id: 'x' } })
  // A payload may be omitted only if null, which is then stored, is what the job takes.
  const nothing = defineJob({ kind: 'nothing', run: ({ payload }: JobContext<null>) => payload })
  const maybe = defineJob({ kind: 'maybe', run: ({ payload }: JobContext<{ id: number } | null>) => payload })
  const untyped = defineJob({ kind: 'untyped', run: () => 1 })
  jobmill({
    store,
    schedules: [
      { name: 'a', job: nothing, when: '@daily' },
      { name: 'b', job: maybe, when: '@daily' },
      { name: 'c', job: untyped, when: '@daily' },
      { name: 'd', job: 'by.name', when: '@daily' },
    ],
  })
  // @ts-expect-error no payload
  jobmill({ store, schedules: [{ name: 'a', job: plain, when: '@daily' }] })
  // @ts-expect-error no payload
  jobmill({ store, schedules: [{ name: 'a', job: withValibot, when: '@daily' }] })
  await mill.schedules.create({ name: 'b', job: maybe, when: '@daily' })
  await mill.schedules.create({ name: 'd', job: 'by.name', when: '@daily' })
  // @ts-expect-error no payload
  await mill.schedules.create({ name: 'a', job: plain, when: '@daily' })
  const schedules: ScheduleOptions<{ id: number }>[] = [
    { name: 'a', job: plain, when: '@daily', payload: { id: 1 } },
    // @ts-expect-error no payload
    { name: 'b', job: plain, when: '@daily' },
  ]
  jobmill({ store, schedules })
  const completing = defineJob({
    kind: 'completing',
    async run({ complete }: JobContext<{ id: number }, Client, { ok: boolean }>) {
      const client: Client = { query: async () => {} }
      await complete(client, { ok: true })
      // @ts-expect-error not a transaction of this store
      await complete({ run: 1 })
      // @ts-expect-error not the result of this job
      await complete(client, { ok: 'yes' })
    },
  })
  await mill.enqueue(completing, { id: 1 })
  expectTypeOf(
    await (await mill.enqueue(recursive, { name: 'a', children: [] })).result(),
  ).toEqualTypeOf<number>()
  expectTypeOf(await (await mill.enqueue(loose, { b: 'x', c: 1, d: {} })).result()).toEqualTypeOf<
    string | undefined
  >()
}

/** Never called: only the compiler reads it. */
async function calls(mill: Mill): Promise<void> {
  const job = await mill.enqueue(
    withZod,
    { to: 'a', at: '2026-01-01T00:00:00Z' },
    { delay: '1m', dedupeKey: 'k' },
  )
  expectTypeOf(await job.result()).toEqualTypeOf<{ length: number }>()
  // @ts-expect-error a field is missing
  await mill.enqueue(withZod, { to: 'a' })
  // @ts-expect-error the schema takes a text here and makes a Date of it
  await mill.enqueue(withZod, { to: 'a', at: new Date(0) })
  // @ts-expect-error there is no such option
  await mill.enqueue(withZod, { to: 'a', at: '' }, { dely: 1 })
  expectTypeOf(await (await mill.enqueue(withValibot, { n: 1 })).result()).toEqualTypeOf<{
    doubled: number
  }>()
  expectTypeOf(await (await mill.enqueue(plain, { id: 1 })).result()).toEqualTypeOf<number>()
  // @ts-expect-error not what the handler takes
  await mill.enqueue(plain, { id: 'x' })
  expectTypeOf(await (await mill.enqueue(untyped, { any: 'thing' })).result()).toEqualTypeOf<string>()
  // The result went through JSON.
  expectTypeOf(await (await mill.enqueue(dated, null)).result()).toEqualTypeOf<{
    at: string
    list: string[]
    u: number | undefined
  }>()
  expectTypeOf(await (await mill.enqueue(nothing, null)).result()).toEqualTypeOf<void>()
  const [first] = await mill.enqueueMany(withValibot, [
    { payload: { n: 1 } },
    { payload: { n: 2 }, priority: 1 },
  ])
  expectTypeOf(await first?.result()).toEqualTypeOf<{ doubled: number } | undefined>()
  expectTypeOf(await (await mill.enqueue('by.name', 1)).result()).toEqualTypeOf<unknown>()
  expectTypeOf(await mill.job(plain, 'id').result()).toEqualTypeOf<number>()
}

describe('the types of a job', () => {
  it('come from its definition', () => {
    expectTypeOf(calls).toBeFunction()
    expectTypeOf(refused).toBeFunction()
    expectTypeOf(indexed).toBeFunction()
    expectTypeOf(typed).toBeFunction()
    expectTypeOf(withResultSchema).toBeFunction()
    defineJob({
      kind: 'chain',
      async run({ enqueue, complete }: JobContext<null>) {
        const next = await enqueue(withValibot, { n: 1 }, { withCompletion: true })
        expectTypeOf(await next.result()).toEqualTypeOf<{ doubled: number }>()
        // @ts-expect-error not what that handler takes
        await enqueue(withValibot, { n: 'x' })
        await complete({}, 1)
      },
    })
  })
})
