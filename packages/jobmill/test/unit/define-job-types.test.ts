/** Types flow from the definition to enqueue, run and result without a cast. Checked by the compiler; it runs so that it counts. */
import * as v from 'valibot'
import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { defineJob, type JobContext, type Mill } from '../../src/index.ts'

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

/** Never called: only what the compiler makes of it counts. */
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
  // What comes back has been JSON.
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
  it('flow from its definition', () => {
    expectTypeOf(calls).toBeFunction()
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
