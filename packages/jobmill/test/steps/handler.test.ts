/** `step` of a handler without a store: results, waits, errors of misuse. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobContext } from '../../src/index.ts'
import { runJob } from '../../src/testing/index.ts'

const job = (run: (context: JobContext) => unknown) => defineJob({ kind: 'a', run })
const ran = (run: (context: JobContext) => unknown, options = {}) => runJob(job(run), null, options)
const error = (code: string) => ({ outcome: 'failed', error: expect.objectContaining({ code }) as unknown })

describe('step.run', () => {
  test('returns the stored form of its result, and is recorded', async () => {
    const { result, steps } = await ran(({ step }) => step.run('fetch', () => ({ at: new Date(0) })))
    expect(result).toEqual({ at: '1970-01-01T00:00:00.000Z' })
    expect(steps).toEqual([{ name: 'fetch', kind: 'run', result }])
  })

  test('a step without a result returns undefined', async () => {
    const { result } = await ran(async ({ step }) => (await step.run('a', () => {})) === undefined)
    expect(result).toBe(true)
  })

  test('a recorded step does not run again, and returns what was stored', async () => {
    const { result, steps } = await ran(
      async ({ step }) => {
        const first = await step.run('first', () => 'again')
        return [first, await step.run('second', () => 2)]
      },
      { steps: { first: 'stored' } },
    )
    expect(result).toEqual(['stored', 2])
    expect(steps.map(({ name }) => name)).toEqual(['second'])
  })

  test('its idempotency key depends on the job and the name, and fits into a header', async () => {
    const keys: string[] = []
    const { outcome } = await ran(async ({ step, job: { id } }) => {
      await step.run('charge', ({ idempotencyKey }) => void keys.push(idempotencyKey))
      await step.run('ф'.repeat(200), ({ idempotencyKey }) => void keys.push(idempotencyKey))
      return id
    })
    expect(outcome).toBe('returned')
    expect(keys[0]).toMatch(/^[\da-f-]{36}:charge$/)
    expect(keys[1]).toMatch(/^[\da-f-]{36}:[\da-f]{64}$/)
  })

  test('throws what its function throws', async () => {
    const run = ran(({ step }) => step.run('a', () => Promise.reject(new Error('no'))))
    expect(await run).toMatchObject({ outcome: 'failed', error: new Error('no'), steps: [] })
  })

  test('concurrent steps are no steps inside each other', async () => {
    const { result } = await ran(({ step }) =>
      Promise.all([1, 2, 3].map((n) => step.run(`page ${n}`, async () => Promise.resolve(n)))),
    )
    expect(result).toEqual([1, 2, 3])
  })

  test('fails after its timeout, with its signal aborted', async () => {
    const aborted = Promise.withResolvers<unknown>()
    const slow = ({ signal }: { signal: AbortSignal }) =>
      new Promise<never>(() => signal.addEventListener('abort', () => aborted.resolve(signal.reason)))
    expect(await ran(({ step }) => step.run('slow', slow, { timeout: 20 }))).toMatchObject(
      error('STEP_TIMED_OUT'),
    )
    expect(await aborted.promise).toMatchObject({ code: 'STEP_TIMED_OUT' })
  })

  test('saves checkpoints in their order', async () => {
    const { outcome } = await ran(({ step }) =>
      step.run('rows', async ({ checkpoint, saveCheckpoint }) => {
        expect(checkpoint).toBeUndefined()
        void saveCheckpoint(1)
        await saveCheckpoint(2)
      }),
    )
    expect(outcome).toBe('returned')
  })
})

const nested = ({ step }: JobContext) =>
  step.run('outer', async () => {
    await Promise.resolve()
    return step.run('inner', () => 1)
  })

describe('misuse is refused with the fix', () => {
  test.each([
    ['an empty name', '', 'NAME_INVALID'],
    ['a name that is no string', 7, 'NAME_INVALID'],
    ['a name that is too long', 'x'.repeat(201), 'NAME_INVALID'],
    ['a name with a line break', 'a\nb', 'NAME_INVALID'],
  ])('%s', async (_, name, code) => {
    expect(await ran(({ step }) => step.run(name as string, () => 1))).toMatchObject(error(code))
  })

  test('the same name twice', async () => {
    const twice = await ran(async ({ step }) => {
      await step.run('a', () => 1)
      await step.run('a', () => 2)
    })
    expect(twice).toMatchObject(error('STEP_NAME_REUSED'))
    expect(String(twice.error)).toContain('in a loop, include the item')
  })

  test('a step inside a step, also after an await', async () => {
    expect(await ran(nested)).toMatchObject(error('STEP_INVALID'))
  })

  test('a wait inside a step', async () => {
    expect(await ran(({ step }) => step.run('outer', () => step.sleep('inner', '1d')))).toMatchObject(
      error('STEP_INVALID'),
    )
  })

  test('a result that is no JSON', async () => {
    const run = await ran(({ step }) => step.run('a', () => 1n as never))
    expect(run).toMatchObject(error('PAYLOAD_NOT_JSON'))
    expect(String(run.error)).toContain('the result of step "a"')
  })

  test('a result that is too large', async () => {
    expect(await ran(({ step }) => step.run('a', () => 'x'.repeat(2 ** 20)))).toMatchObject(
      error('PAYLOAD_TOO_LARGE'),
    )
  })

  test('more than 10,000 steps', async () => {
    const steps = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`s${n}`, null]))
    expect(await ran(({ step }) => step.run('more', () => 1), { steps })).toMatchObject(
      error('STEPS_TOO_MANY'),
    )
  })

  test('a step of another kind under the same name', async () => {
    expect(await ran(({ step }) => step.sleep('a', '1d'), { steps: { a: 1 } })).toMatchObject(
      error('STEP_INVALID'),
    )
  })

  test('a step after the handler ended', async () => {
    let late: JobContext['step'] | undefined
    await ran(({ step }) => void (late = step))
    await expect(late?.run('a', () => 1)).rejects.toMatchObject({ code: 'ATTEMPT_ENDED' })
  })
})

describe('waits', () => {
  test('a sleep ends at once', async () => {
    const { outcome, steps } = await ran(async ({ step }) => {
      await step.sleep('short', 5)
      await step.sleep('long', '30d')
      await step.sleepUntil('date', '2199-01-01T00:00:00Z')
    })
    expect(outcome).toBe('returned')
    expect(steps.map(({ name }) => name)).toEqual(['short', 'long', 'date'])
  })

  test('the schema types the payload of the event', async () => {
    const schema = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })
    const run = async ({ step }: JobContext) => {
      const answer = await step.waitForEvent('survey', { schema })
      expectTypeOf(answer).toEqualTypeOf<{ at: Date }>()
      const first = await step.waitForEvent(['paid', 'refused'], { schema, timeout: '1d' })
      expectTypeOf(first).toEqualTypeOf<{ readonly event: string; readonly payload: { at: Date } } | null>()
      return [answer.at.getTime(), first?.payload.at.getTime()]
    }
    const at = '1970-01-01T00:00:01.000Z'
    const { result } = await ran(run, { events: { survey: { at }, paid: { at } } })
    expect(result).toEqual([1_000, 1_000])
  })

  test('a given event is received, and checked against the schema', async () => {
    const schema = z.object({ score: z.number() })
    const answer = ({ step }: JobContext) => step.waitForEvent('survey', { timeout: '14d', schema })
    expect(await ran(answer, { events: { survey: { score: 9 } } })).toMatchObject({ result: { score: 9 } })
    expect(await ran(answer, { events: { survey: { score: 'x' } } })).toMatchObject(error('PAYLOAD_INVALID'))
  })

  test('declared events have their schema, unless the call passes one', async () => {
    const events = { survey: z.object({ score: z.number() }), closed: z.null() }
    const both = defineJob({
      kind: 'both',
      events,
      run: async ({ step }) => [
        await step.waitForEvent('survey', {
          schema: z.unknown().transform((given) => JSON.stringify(given)),
        }),
        await step.waitForEvent(['survey', 'closed'], { name: 'second' }),
      ],
    })
    const given = { survey: { score: 9 }, closed: null }
    expect((await runJob(both, null, { events: given })).result).toEqual([
      '{"score":9}',
      { event: 'closed', payload: null },
    ])
    const one = defineJob({ kind: 'one', events, run: ({ step }) => step.waitForEvent('survey') })
    const unfit = await runJob(one, null, { events: { survey: { score: 'x' } as never } })
    expect(unfit).toMatchObject(error('PAYLOAD_INVALID'))
    expect(unfit.error).toMatchObject({ field: 'event.payload.score' })
  })

  test('an event that is not declared is refused, also in the options of runJob', async () => {
    const events = { survey: z.null(), closed: z.null() }
    const waits = (names: string | string[]) =>
      defineJob({ kind: 'a', events, run: ({ step }) => step.waitForEvent(names as 'survey') })
    const typo = await runJob(waits('surveys'), null)
    expect(typo).toMatchObject(error('NAME_INVALID'))
    expect(String(typo.error)).toContain(
      'event: is none of the events of kind "a": "survey", "closed" (got "surveys"). Did you mean "survey"?',
    )
    const second = await runJob(waits(['survey', 'paid']), null)
    expect(String(second.error)).toContain('event[1]: is none of')
    expect(String(second.error)).toContain('Add it to the option events of the job')
    const none = defineJob({ kind: 'a', events: {}, run: ({ step }) => step.waitForEvent('x' as never) })
    expect(String((await runJob(none, null)).error)).toContain('kind "a" declares no events')
    await expect(runJob(waits('survey'), null, { events: { paid: 1 } as never })).rejects.toMatchObject({
      field: 'options.events',
    })
  })

  test('the first of several events says which it was', async () => {
    const { result } = await ran(({ step }) => step.waitForEvent(['paid', 'refused']), {
      events: { refused: 1 },
    })
    expect(result).toEqual({ event: 'refused', payload: 1 })
  })

  test('without the event the attempt ends as parked, and the handler never continues', async () => {
    let isAfter = false
    const { outcome, steps } = await ran(async ({ step, signal }) => {
      signal.addEventListener('abort', () => expect(signal.reason).toMatchObject({ why: 'parked' }))
      await step.run('before', () => 1)
      try {
        await step.waitForEvent('survey')
      } finally {
        isAfter = true
      }
    })
    expect(outcome).toBe('parked')
    expect(steps.map(({ name }) => name)).toEqual(['before'])
    expect(isAfter).toBe(false)
  })

  test('a wait with a timeout of at most a second ends in the process', async () => {
    const { result } = await ran(async ({ step }) => ({
      answer: await step.waitForEvent('a', { timeout: 10 }),
    }))
    expect(result).toEqual({ answer: null })
  })

  test('a running sibling delays the park, and its result counts', async () => {
    const { outcome, steps } = await ran(({ step }) =>
      Promise.all([
        step.waitForEvent('never'),
        step.run('slow', () => new Promise((resolve) => void setTimeout(() => resolve('ran'), 20))),
      ]),
    )
    expect(outcome).toBe('parked')
    expect(steps).toMatchObject([{ name: 'slow', result: 'ran' }])
  })

  test.each([
    ['no name', []],
    ['too many names', Array.from({ length: 21 }, (_, n) => `e${n}`)],
    ['a name that is no string', 5],
  ])('%s', async (_, events) => {
    const { outcome, error: thrown } = await ran(({ step }) => step.waitForEvent(events as string[]))
    expect(outcome).toBe('failed')
    expect(thrown).toMatchObject({ field: expect.stringMatching(/^event/) as unknown })
  })
})

const fails = (): never => {
  throw new Error('no')
}

describe('step.transaction', () => {
  test('runs a query builder that starts when it is awaited', async () => {
    let isRun = false
    // oxlint-disable-next-line unicorn/no-thenable -- this is what such a library returns
    const query = { then: (resolve: (rows: unknown) => void) => resolve({ rows: Number((isRun = true)) }) }
    const { result } = await ran(({ step }) => step.transaction({}, 'book', () => query as never))
    expect([isRun, result]).toEqual([true, { rows: 1 }])
  })

  test('throws synchronously what a synchronous function throws, and can be run again after a rollback', async () => {
    const { result, steps } = await ran(({ step }) => {
      expect(() => step.transaction({}, 'book', fails)).toThrow('no')
      return step.transaction({}, 'book', () => 'booked')
    })
    expect(result).toBe('booked')
    expect(steps).toEqual([{ name: 'book', kind: 'transaction', result: 'booked' }])
  })
})
