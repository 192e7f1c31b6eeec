/** Steps of other jobs while the transaction of a handler is open. */
import { describe, expect, test } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.ts'
import { places } from '../runtime/places.ts'

const LATE_MS = 60_000
const POSTGRES = places.filter(({ name }) => name === 'postgres')

describe.each(POSTGRES)('an open transaction on $name', ({ create }) => {
  const at = create()

  test.each(['complete', 'transaction'] as const)(
    'P17 with %s(tx) delays no step of another job, in the same batch or not',
    async (how) => {
      const user = await at.connect()
      const opened = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const started = Promise.withResolvers<void>()
      const steps = async ({ step }: JobContext): Promise<string> => {
        started.resolve()
        await opened.promise
        await step.run('one', () => 1)
        return step.run('two', () => 'done')
      }
      const opens = defineJob({
        kind: 'opens',
        async run({ complete, step }: JobContext) {
          await user.begin()
          if (how === 'complete') await complete(user.tx, 'slow')
          else await step.transaction(user.tx, 'book', () => 'slow')
          opened.resolve()
          await gate.promise
          await user.commit()
          return 'slow'
        },
      })
      const mill = await at.mill({
        jobs: [opens, defineJob({ kind: 'steps', run: steps })],
        start: false,
        capacity: 10,
      })
      const early = await mill.enqueueMany('steps', [{ payload: null }, { payload: null }])
      const slow = await mill.enqueue(opens, null)
      await mill.start()
      await opened.promise
      const late = await mill.enqueue('steps', null)
      for (const job of [...early, late]) expect(await job.result()).toBe('done')
      expect((await mill.get(slow.id))?.state).toBe('running')
      gate.resolve()
      await mill.drain()
      expect(await mill.get(slow.id)).toMatchObject({ state: 'done', result: 'slow' })
    },
  )

  test('P17 a step that still runs when its job is completed in a transaction delays no step of another job', async () => {
    const user = await at.connect()
    const opened = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    let isOpen = true
    // A step that waits for the commit ends the test late, instead of never.
    const late = setTimeout(gate.resolve, LATE_MS)
    const opens = defineJob({
      kind: 'opens',
      async run({ complete, step }: JobContext) {
        const slow = step.run('slow', () => opened.promise)
        await user.begin()
        await complete(user.tx, 'slow')
        opened.resolve()
        await gate.promise
        isOpen = false
        await user.commit()
        await expect(slow).rejects.toMatchObject({ code: 'STEP_INVALID' })
      },
    })
    const steps = defineJob({ kind: 'steps', run: ({ step }: JobContext) => step.run('one', () => 'done') })
    const mill = await at.mill({ jobs: [opens, steps], capacity: 10 })
    const slow = await mill.enqueue(opens, null)
    await opened.promise
    const other = await mill.enqueue(steps, null)
    expect([await other.result(), isOpen]).toEqual(['done', true])
    clearTimeout(late)
    gate.resolve()
    await mill.drain()
    expect(await mill.get(slow.id)).toMatchObject({ state: 'done', result: 'slow' })
  })
})
