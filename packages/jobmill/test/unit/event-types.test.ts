/**
 * The option `events` determines the types of `step.waitForEvent` and `mill.sendEvent`. The compiler checks
 * them; the file also runs, so that it counts as a test.
 */
import * as v from 'valibot'
import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  type AnyJob,
  declareJob,
  defineJob,
  implement,
  type JobContext,
  type JobDeclaration,
  type JobDefinition,
  jobmill,
  type Middleware,
  type Mill,
  type Step,
  withContext,
} from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { runJob } from '../../src/testing/index.ts'

const events = {
  survey: z.object({ score: z.number(), at: z.iso.datetime().transform((text) => new Date(text)) }),
  refused: v.object({ reason: v.string() }),
  closed: z.null(),
}
const AT = '2026-05-04T09:12:31.000Z'
interface Survey {
  score: number
  at: Date
}
type Either =
  | { readonly event: 'survey'; readonly payload: Survey }
  | { readonly event: 'refused'; readonly payload: { reason: string } }

/** Every form of the wait, for a handler whose events are declared. */
async function waits(step: Step<unknown, typeof events>): Promise<void> {
  expectTypeOf(await step.waitForEvent('survey')).toEqualTypeOf<Survey>()
  expectTypeOf(await step.waitForEvent('refused', { timeout: '1d' })).toEqualTypeOf<{
    reason: string
  } | null>()
  expectTypeOf(await step.waitForEvent(['survey', 'refused'])).toEqualTypeOf<Either>()
  const either = await step.waitForEvent(['survey', 'refused'], { timeout: '1d', name: 'either' })
  expectTypeOf(either).toEqualTypeOf<Either | null>()
  if (either?.event === 'refused') expectTypeOf(either.payload).toEqualTypeOf<{ reason: string }>()
  // The schema of the call wins.
  expectTypeOf(await step.waitForEvent('survey', { schema: z.string() })).toEqualTypeOf<string>()
  expectTypeOf(await step.waitForEvent(['survey', 'closed'], { schema: z.string() })).toEqualTypeOf<
    | { readonly event: 'survey'; readonly payload: string }
    | { readonly event: 'closed'; readonly payload: string }
  >()
  // @ts-expect-error no such event
  await step.waitForEvent('surveys')
  // @ts-expect-error one of them is no event
  await step.waitForEvent(['survey', 'surveys'])
}

const withPayload = defineJob({
  kind: 'with.payload',
  payload: z.object({ email: z.email() }),
  events,
  async run({ payload, step }) {
    expectTypeOf(payload).toEqualTypeOf<{ email: string }>()
    expectTypeOf(step).toEqualTypeOf<Step<unknown, typeof events>>()
    await waits(step)
    return { score: (await step.waitForEvent('survey')).score }
  },
})
const withoutPayload = defineJob({
  kind: 'without.payload',
  events,
  run: async ({ step }) => (await step.waitForEvent('survey')).at,
})
const annotated = defineJob({
  kind: 'annotated',
  events,
  run: async ({ payload, step }: JobContext<{ id: number }, unknown, unknown, unknown, typeof events>) => {
    await waits(step)
    return payload.id
  },
})
/** An annotation without events: waits are as for any job, and `sendEvent` is typed. */
const halfAnnotated = defineJob({
  kind: 'half.annotated',
  events,
  async run({ payload, step }: JobContext<{ id: number }>) {
    expectTypeOf(await step.waitForEvent('anything')).toBeUnknown()
    return payload.id
  },
})
const plain = defineJob({
  kind: 'plain',
  async run({ step }) {
    expectTypeOf(await step.waitForEvent('anything')).toBeUnknown()
    expectTypeOf(await step.waitForEvent(['a', 'b'])).toEqualTypeOf<{
      readonly event: string
      readonly payload: unknown
    }>()
    expectTypeOf(await step.waitForEvent('a', { schema: z.string(), timeout: 1 })).toEqualTypeOf<
      string | null
    >()
  },
})

const declared = declareJob({
  kind: 'declared',
  payload: z.object({ n: z.number() }),
  result: z.object({ ok: z.boolean() }),
  events,
})
const implemented = implement(declared, async ({ payload, step, complete }) => {
  expectTypeOf(payload).toEqualTypeOf<{ n: number }>()
  await waits(step)
  await complete({}, { ok: true })
  return { ok: true }
})
const asObject = implement(declared, {
  async run({ step }) {
    await waits(step)
    return { ok: true }
  },
  onDead({ payload }) {
    expectTypeOf(payload).toEqualTypeOf<{ n: number }>()
  },
})
/** Without schemas of payload and result, all type arguments are passed. */
const withTypes = implement(
  declareJob<{ n: number }, { ok: boolean }, { ok: boolean }, typeof events>({ kind: 'types', events }),
  async ({ payload, step }) => {
    expectTypeOf(payload).toEqualTypeOf<{ n: number }>()
    await waits(step)
    return { ok: true }
  },
)
const withDb = withContext<{ db: string }>()
const injected = withDb.defineJob({
  kind: 'injected',
  payload: z.object({ n: z.number() }),
  events,
  async run({ step, context }) {
    expectTypeOf(context).toEqualTypeOf<{ db: string }>()
    await waits(step)
  },
})
const implementedWithDb = withDb.implement(declared, async ({ step, context }) => {
  expectTypeOf(context).toEqualTypeOf<{ db: string }>()
  await waits(step)
  return { ok: true }
})

/** Never called: only the compiler reads it. */
async function sends(mill: Mill, id: string): Promise<void> {
  for (const job of [
    withPayload,
    withoutPayload,
    annotated,
    halfAnnotated,
    declared,
    implemented,
    injected,
    withTypes,
  ])
    expectTypeOf(await mill.sendEvent(job, id, 'survey', { score: 9, at: AT })).toEqualTypeOf<{
      readonly id: string
    }>()
  await mill.sendEvent(asObject, { dedupeKey: 'a' }, 'refused', { reason: 'no' }, { tx: {} })
  await mill.sendEvent(implementedWithDb, id, 'closed')
  await mill.sendEvent(declared, id, 'closed', null, { tx: {} })
  // @ts-expect-error no such event
  await mill.sendEvent(withPayload, id, 'surveys', { score: 9, at: AT })
  // @ts-expect-error not the payload of this event
  await mill.sendEvent(withPayload, id, 'survey', { reason: 'no' })
  // @ts-expect-error the schema takes a text here and makes a Date of it
  await mill.sendEvent(withPayload, id, 'survey', { score: 9, at: new Date(0) })
  // @ts-expect-error the payload is missing
  await mill.sendEvent(withPayload, id, 'survey')
  // @ts-expect-error no such option
  await mill.sendEvent(withPayload, id, 'closed', null, { timeout: 1 })
  // @ts-expect-error no id
  await mill.sendEvent(withPayload, 'closed')
  // Without `events`, any event is possible.
  await mill.sendEvent(plain, id, 'anything')
  await mill.sendEvent(plain, id, 'anything', { n: 1 }, { tx: {} })
  await mill.sendEvent(id, 'anything')
  await mill.sendEvent({ dedupeKey: 'a' }, 'anything', 1, { tx: {} })
}

/** Never called. N9: an event is stored as JSON, like a payload. */
function refused(): void {
  // @ts-expect-error a Date is a string after JSON
  defineJob({ kind: 'x', events: { at: z.date() }, run: () => null })
  // @ts-expect-error undefined becomes null
  declareJob({ kind: 'x', events: { done: z.void() } })
  // @ts-expect-error JSON has no bigint
  declareJob({ kind: 'x', payload: z.null(), events: { paid: z.object({ cents: z.bigint() }) } })
  // @ts-expect-error not a schema
  declareJob({ kind: 'x', events: { paid: 'cents' } })
  declareJob({ kind: 'x', events: { at: z.coerce.date(), any: z.unknown() } })
  const run = async ({ step }: JobContext<null, unknown, unknown, unknown, typeof events>) => waits(step)
  defineJob({ kind: 'x', events, run })
  // @ts-expect-error the job does not declare them
  defineJob({ kind: 'x', run })
  // @ts-expect-error the job declares others
  defineJob({ kind: 'x', events: { other: z.null() }, run })
  implement(declareJob<null, void, void, typeof events>({ kind: 'x', events }), run)
  // @ts-expect-error the job declares only some of them
  implement(declareJob<null, void, void, { closed: z.ZodNull }>({ kind: 'x' }), run)
}

const middleware: Middleware = async (_, next) => next()

/** Never called. Definitions with events fit where any definition does. */
async function assignable(mill: Mill): Promise<void> {
  const any: AnyJob[] = [withPayload, withoutPayload, annotated, plain, implemented, injected]
  const definition: JobDefinition<{ email: string }, { score: number }> = withPayload
  const declaration: JobDeclaration<never, unknown, unknown, never, typeof events> = implemented
  jobmill({ store: sqlite(':memory:'), jobs: [withPayload, plain, implemented], middleware: [middleware] })
  expectTypeOf(await (await mill.enqueue(definition, { email: '' })).result()).toEqualTypeOf<{
    score: number
  }>()
  expectTypeOf(any).toBeArray()
  expectTypeOf(declaration.events).toEqualTypeOf<typeof events | undefined>()
  expectTypeOf<JobContext<1, unknown, unknown, unknown, typeof events>>().toExtend<JobContext<1>>()
}

/** Never called. */
async function inTests(): Promise<void> {
  await runJob(withPayload, { email: '' }, { events: { survey: { score: 9, at: AT }, closed: null } })
  await runJob(plain, null, { events: { anything: 1 } })
  // @ts-expect-error no such event
  await runJob(withPayload, { email: '' }, { events: { surveys: 1 } })
  // @ts-expect-error not the payload of this event
  await runJob(withPayload, { email: '' }, { events: { survey: { score: 'x' } } })
  await runJob(injected, { n: 1 }, { context: { db: '' }, events: { refused: { reason: 'no' } } })
}

describe('the types of events', () => {
  it('come from the option `events` of the definition', () => {
    expectTypeOf(sends).toBeFunction()
    expectTypeOf(refused).toBeFunction()
    expectTypeOf(assignable).toBeFunction()
    expectTypeOf(inTests).toBeFunction()
  })
})
