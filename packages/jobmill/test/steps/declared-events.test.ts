/** The option `events` through a mill, on both stores. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declareJob, defineJob, implement, type JobContext } from '../../src/index.ts'
import { attempts, subjects } from '../runtime/stores.ts'
import { places } from '../runtime/places.ts'

const survey = z.object({ score: z.number(), at: z.iso.datetime().transform((text) => new Date(text)) })
const refused = z.object({ reason: z.string().min(2) })
const AT = '1970-01-01T00:00:01.000Z'

const onboard = declareJob({
  kind: 'onboard',
  payload: z.object({ email: z.email() }),
  maxAttempts: 2,
  backoff: { fixed: '1s' },
  events: { survey, refused, closed: z.null() },
})
const ADA = { email: 'ada@example.com' }

describe.each(subjects)('declared events on $name', ({ mill: create }) => {
  test('P18 are validated when they are sent and received, before and after the wait began', async () => {
    const job = implement(onboard, async ({ step }) => {
      const { score, at } = await step.waitForEvent('survey')
      const either = await step.waitForEvent(['refused', 'closed'])
      const why = either.event === 'refused' ? either.payload.reason : either.event
      return [score, at.getTime(), why, await step.waitForEvent('closed', { timeout: '1d' })]
    })
    const mill = await create({ jobs: [job], start: false })
    const { id } = await mill.enqueue(onboard, ADA, { dedupeKey: 'ada' })
    // A process that only knows the declaration.
    expect(await mill.sendEvent(onboard, { dedupeKey: 'ada' }, 'survey', { score: 9, at: AT })).toEqual({
      id,
    })
    await mill.start()
    await mill.drain()
    expect((await mill.get(id))?.state).toBe('scheduled')
    await mill.sendEvent(job, id, 'refused', { reason: 'no' })
    await mill.sendEvent(job, id, 'closed')
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: [9, 1_000, 'no', null] })
    // As it was sent: the schema is applied again in each attempt.
    expect((await mill.steps(id))?.[0]?.result).toEqual({ event: 'survey', payload: { score: 9, at: AT } })
  })

  test('an event that does not fit is refused, and nothing is stored', async () => {
    const job = implement(onboard, async ({ step }) => (await step.waitForEvent('survey')).score)
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(onboard, ADA)
    const send = (name: string, payload: unknown) =>
      mill.sendEvent(onboard, id, name as never, payload as never)
    await expect(send('survey', { score: 'x', at: AT })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'payload.score',
    })
    await expect(send('survey', null)).rejects.toThrow('Pass an object with score (number), at (string)')
    await expect(send('surve', { score: 1, at: AT })).rejects.toThrow(
      'event: is none of the events of kind "onboard": "survey", "refused", "closed" (got "surve"). Did you mean "survey"?',
    )
    await expect(send('toString', null)).rejects.toMatchObject({ code: 'NAME_INVALID', field: 'event' })
    await mill.drain()
    expect((await mill.get(id))?.state).toBe('scheduled')
    await mill.sendEvent(onboard, id, 'survey', { score: 7, at: AT })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 7 })
  })

  test('the definition of another kind is refused, and nothing is stored', async () => {
    const other = defineJob({ kind: 'other', run: ({ step }) => step.waitForEvent('survey') })
    const mill = await create({ jobs: [other], start: false })
    const { id } = await mill.enqueue(other, null, { dedupeKey: 'ada' })
    const sent = { score: 9, at: AT }
    for (const target of [id, { dedupeKey: 'ada' }])
      await expect(mill.sendEvent(onboard, target, 'survey', sent)).rejects.toThrow(
        `job: job ${id} has the kind "other" (got "onboard"). Pass the definition of that kind.`,
      )
    await expect(mill.sendEvent(onboard, crypto.randomUUID(), 'survey', sent)).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
    })
    // A definition without `events` accepts any event for a job of its kind.
    await mill.sendEvent(other, id, 'survey', 'any')
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'any' })
    await expect(mill.sendEvent(other, id, 'survey')).rejects.toMatchObject({ code: 'JOB_ENDED' })
  })

  test('an event that was sent without the definition fails each attempt if it does not fit', async () => {
    const job = implement(onboard, async ({ step }) => (await step.waitForEvent('survey')).score)
    const mill = await create({ jobs: [job] })
    // Both events arrive before the first attempt, which would otherwise park if it came first.
    const { id } = await mill.enqueue(onboard, ADA, { delay: '1m' })
    await mill.sendEvent(id, 'survey', { score: 'x', at: AT })
    await mill.sendEvent(id, 'survey', { score: 9, at: AT })
    await mill.drain({ scheduled: true })
    expect((await mill.get(id))?.state).toBe('dead')
    const error = expect.stringContaining('event.payload.score: does not match its schema') as unknown
    expect(await attempts(mill, id)).toEqual([
      ['failed', error],
      ['failed', error],
    ])
    const copy = await mill.fork(id, { from: 'survey' })
    await mill.drain()
    await mill.sendEvent(onboard, copy.id, 'survey', { score: 8, at: AT })
    await mill.drain()
    expect(await mill.get(copy.id)).toMatchObject({ state: 'done', result: 8 })
  })

  test('an asynchronous schema is awaited before anything is stored', async () => {
    const paid = z.object({ cents: z.number() }).refine(async ({ cents }) => cents > 0, 'is not positive')
    const job = defineJob({
      kind: 'order',
      events: { paid },
      run: async ({ step }) => (await step.waitForEvent('paid')).cents,
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await expect(mill.sendEvent(job, id, 'paid', { cents: -1 })).rejects.toThrow('is not positive')
    await mill.sendEvent(job, id, 'paid', { cents: 5 })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 5 })
  })

  test('odd names of events are names like any other', async () => {
    const events = { ['__proto__']: z.literal(1), constructor: z.literal(2), 'ф "q"': z.literal(3) }
    const job = defineJob({
      kind: 'odd',
      events,
      run: async ({ step }: JobContext) => [
        await step.waitForEvent('__proto__'),
        await step.waitForEvent('constructor'),
        await step.waitForEvent('ф "q"'),
      ],
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await expect(mill.sendEvent(job, id, 'constructor', 1 as never)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    await mill.sendEvent(job, id, '__proto__' as never, 1 as never)
    await mill.sendEvent(job, id, 'constructor', 2)
    await mill.sendEvent(job, id, 'ф "q"', 3)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: [1, 2, 3] })
  })
})

describe.each(places)('declared events in a transaction on $name', ({ create }) => {
  const at = create()

  test('P10 P18 are sent when it commits, and refused before anything is written', async () => {
    const job = implement(onboard, async ({ step }) => (await step.waitForEvent('survey')).score)
    const mill = await at.mill({ jobs: [job] })
    const user = await at.connect()
    const { id } = await mill.enqueue(onboard, ADA)
    await mill.drain()
    await user.begin()
    await mill.sendEvent(onboard, id, 'survey', { score: 1, at: AT }, { tx: user.tx })
    await user.rollBack()
    await user.begin()
    await expect(
      mill.sendEvent(onboard, id, 'survey', { score: 'x' } as never, { tx: user.tx }),
    ).rejects.toMatchObject({ field: 'payload.score' })
    await mill.sendEvent(onboard, id, 'survey', { score: 2, at: AT }, { tx: user.tx })
    await user.commit()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 2 })
  })
})
