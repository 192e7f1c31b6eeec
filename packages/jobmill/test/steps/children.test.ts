/** Child jobs of steps through a mill, on both stores: P18. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ChildFailed, defineJob } from '../../src/index.ts'
import { runJob } from '../../src/testing/index.ts'
import { subjects } from '../runtime/stores.ts'

const double = defineJob({ kind: 'double', payload: z.number(), run: ({ payload }) => payload * 2 })
const empty = defineJob({ kind: 'empty', run: () => 'nothing' })

describe.each(subjects)('children of steps on $name', ({ mill: create }) => {
  test('P18 a step returns the results of its children, and runs them once', async () => {
    const runs: string[] = []
    const parent = defineJob({
      kind: 'parent',
      async run({ step }) {
        runs.push('parent')
        const one: number = await step.child('one', double, 4)
        const many: number[] = await step.children('many', double, [1, 2, 3])
        const none: string = await step.child('none', empty)
        const named: unknown = await step.child('named', 'double', 5, { priority: 3 })
        const nobody: number[] = await step.children('nobody', double, [])
        return { one, many, none, named, nobody }
      },
    })
    const mill = await create({ jobs: [parent, double, empty] })
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({
      state: 'done',
      attempt: 1,
      result: { one: 8, many: [2, 4, 6], none: 'nothing', named: 10, nobody: [] },
    })
    // Each of the four waits parks the parent, unless its children end before that.
    expect(runs.length).toBeGreaterThan(1)
    expect(runs.length).toBeLessThanOrEqual(5)
    const { jobs } = await mill.list({ kind: 'double' })
    expect(jobs).toHaveLength(5)
    expect(await mill.steps(id)).toMatchObject([
      { name: 'one', kind: 'child', result: 8, children: [{ endedAs: 'done' }] },
      { name: 'many', kind: 'child', result: [2, 4, 6], children: [{}, {}, {}] },
      { name: 'none', result: 'nothing' },
      { name: 'named', result: 10 },
      { name: 'nobody', result: [], children: [] },
    ])
    expect((await mill.history(id)).map(({ outcome }) => outcome)).toEqual([
      ...Array.from({ length: 4 }, () => 'parked'),
      'returned',
    ])
  })

  test('a dead child fails its parent, which can catch the error', async () => {
    const refuse = defineJob({
      kind: 'refuse',
      maxAttempts: 1,
      payload: z.string(),
      run: ({ payload }) => Promise.reject(new Error(payload)),
    })
    const careless = defineJob({
      kind: 'careless',
      run: async ({ step }) => step.children('both', refuse, ['a', 'b']),
    })
    const careful = defineJob({
      kind: 'careful',
      async run({ step }) {
        try {
          return await step.child('it', refuse, 'no')
        } catch (error) {
          if (!(error instanceof ChildFailed)) throw error
          await step.run('clean up', () => 'ok')
          return error.children
        }
      },
    })
    const mill = await create({ jobs: [careless, careful, refuse] })
    const dead = await mill.enqueue(careless, null)
    const done = await mill.enqueue(careful, null)
    await mill.drain()
    const { state, error } = (await mill.get(dead.id)) ?? {}
    expect(state).toBe('dead')
    expect(error).toMatch(/2 of the 2 children of step "both" failed: [\da-f-]{36} is dead: Error: a/)
    expect(await mill.get(done.id)).toMatchObject({
      state: 'done',
      result: [{ endedAs: 'dead', error: expect.stringContaining('Error: no') as unknown }],
    })
    // Retried with its children, it waits for them again.
    const ids = (await mill.list({ kind: 'refuse', state: 'dead' })).jobs.map(({ id }) => id)
    for (const id of [...ids, dead.id]) await mill.retry(id)
    await mill.drain()
    expect((await mill.get(dead.id))?.state).toBe('dead')
  })

  test('results that are too large together make the parent dead at once', async () => {
    const large = defineJob({ kind: 'large', run: () => 'x'.repeat(700_000) })
    const parent = defineJob({ kind: 'parent', run: ({ step }) => step.children('all', large, [null, null]) })
    const mill = await create({ jobs: [parent, large] })
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({
      state: 'dead',
      error: expect.stringContaining(
        'the results of the 2 children of step "all" exceed 1 MiB together',
      ) as unknown,
    })
    expect(await mill.history(id)).toHaveLength(2)
  })

  test('P8 a cancel of the parent reaches its children', async () => {
    const slow = defineJob({
      kind: 'slow',
      run: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    })
    const parent = defineJob({ kind: 'parent', run: ({ step }) => step.child('slow', slow, null) })
    const mill = await create({ jobs: [parent, slow] })
    const { id } = await mill.enqueue(parent, null)
    await mill.platform.settled()
    expect((await mill.list({ kind: 'slow' })).jobs).toMatchObject([{ state: 'running' }])
    expect(await mill.cancel(id, 'stop')).toMatchObject({ state: 'cancelled' })
    await mill.clock.advance('10s')
    await mill.drain()
    expect((await mill.list({ kind: 'slow' })).jobs).toMatchObject([{ state: 'cancelled' }])
  })

  test('an unknown kind is refused with the nearest kind, without its versions', async () => {
    const page = defineJob({ kind: 'page', version: 2, run: () => null })
    const parent = defineJob({
      kind: 'parent',
      run: ({ step }) => step.child('first', 'page-1', null).catch(String),
    })
    const mill = await create({ jobs: [parent, page] })
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    expect((await mill.get(id))?.result).toContain('Did you mean "page"?')
  })

  test('bad calls are refused, and enqueue nothing', async () => {
    const keyed = defineJob({ kind: 'keyed', run: () => 1 })
    const errors: unknown[] = []
    const parent = defineJob({
      kind: 'parent',
      async run({ step, limit: _limit }) {
        for (const call of [
          () => step.child('unknown', 'no.such.kind', null),
          () => step.child('payload', double, 'x' as never),
          () => step.child('option', keyed, null, { dedupeKey: 'k' } as never),
          () => step.children('list', double, 7 as never),
          () => step.child('', double, 1),
        ])
          await call().catch((error: unknown) => errors.push((error as { code?: string }).code))
        return null
      },
    })
    const mill = await create({ jobs: [parent, double, keyed] })
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    expect(errors).toEqual([
      'KIND_UNKNOWN',
      'PAYLOAD_INVALID',
      'OPTION_UNKNOWN',
      'OPTION_INVALID',
      'NAME_INVALID',
    ])
    expect(await mill.list({ kind: 'double' })).toMatchObject({ jobs: [] })
  })
})

test('runJob records the children, and parks', async () => {
  const parent = defineJob({ kind: 'parent', run: ({ step }) => step.children('all', double, [1, 2]) })
  const parked = await runJob(parent, null)
  expect(parked).toMatchObject({
    outcome: 'parked',
    enqueued: [{ kind: 'double', payload: 1 }, { payload: 2 }],
  })
  expect(await runJob(parent, null, { steps: { all: [2, 4] } })).toMatchObject({
    outcome: 'returned',
    result: [2, 4],
  })
})
