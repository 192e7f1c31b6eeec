/** Steps and waits of an attempt that is asked to stop, or that has ended: no handler hangs. */
import { describe, expect, onTestFinished } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type FullStore } from '../../src/index.ts'
import { onCancelledKind } from '../../src/job/attempt/on-cancelled.ts'
import { onDeadKind } from '../../src/job/attempt/on-dead.ts'
import { aroundVerbs } from '../../src/store/verbs.ts'
import { attempts, subjects } from '../runtime/stores.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** The unhandled rejections of a test, which would end a process. */
function unhandled(): unknown[] {
  const seen: unknown[] = []
  const before = process.listeners('unhandledRejection')
  const see = (error: unknown): void => void seen.push(error)
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', see)
  onTestFinished(() => {
    process.off('unhandledRejection', see)
    for (const listener of before) process.on('unhandledRejection', listener)
  })
  return seen
}

/** A store whose replies to this verb arrive when the gate opens. */
function slow(verb: 'steps.wait' | 'steps.read') {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const around = (store: FullStore): FullStore =>
    aroundVerbs(store, [verb], (_, call) => async (...args) => {
      const reply = await call(...args)
      asked.resolve()
      await gate.promise
      return reply
    })
  return { asked: asked.promise, open: gate.resolve, around }
}

describe.each(subjects)('durable steps on $name, interrupted', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('P8 a cancel while a wait is written ends the handler', async () => {
    const waits = slow('steps.wait')
    const thrown = Promise.withResolvers<unknown>()
    const job = defineJob({
      kind: 'a',
      run: ({ step }) =>
        step.sleep('long', '1d').catch((error: unknown) => {
          thrown.resolve(error)
          throw error
        }),
    })
    const mill = await create({ jobs: [job] }, waits.around)
    const { id } = await mill.enqueue(job, null)
    await waits.asked
    await mill.cancel(id, 'not needed')
    waits.open()
    expect(await thrown.promise).toMatchObject({ why: 'cancelled' })
    await mill.drain()
    expect((await mill.get(id))?.state).toBe('cancelled')
  })

  test('P8 a cancel while the recorded steps are read ends the attempt without its handler', async () => {
    const reads = slow('steps.read')
    let runs = 0
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        runs += 1
        await step.sleep('nap', '5s')
      },
    })
    const mill = await create({ jobs: [job] }, reads.around)
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    await mill.runNow(id)
    await reads.asked
    await mill.cancel(id, 'not needed')
    reads.open()
    await mill.drain()
    expect([runs, (await mill.get(id))?.state]).toEqual([1, 'cancelled'])
  })

  test.each(['onCancelled', 'onDead'] as const)(
    'P8 %s does not start when its attempt is asked to stop while it reads the job',
    async (callback) => {
      const reads = slow('steps.read')
      let runs = 0
      const job = defineJob({
        kind: 'a',
        run: () => Promise.reject(new Dead('as planned')),
        [callback]: () => void (runs += 1),
      })
      const mill = await create({ jobs: [job] }, reads.around)
      const { id } = await mill.enqueue(job, null, callback === 'onDead' ? {} : { delay: '1h' })
      if (callback === 'onCancelled') await mill.cancel(id)
      await reads.asked
      const kind = callback === 'onDead' ? onDeadKind('a') : onCancelledKind('a')
      const [followUp] = (await mill.list({ kind })).jobs
      await mill.cancel(followUp?.id ?? '', 'not needed')
      reads.open()
      await mill.drain()
      expect([runs, (await mill.get(followUp?.id ?? ''))?.state]).toEqual([0, 'cancelled'])
    },
  )

  test('a step that is still running when its handler returns does not end the process', async () => {
    const errors = unhandled()
    const gate = Promise.withResolvers<void>()
    const job = defineJob({
      kind: 'a',
      run({ step }) {
        void step.run('forgotten', () => gate.promise)
        return 1
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
    gate.resolve()
    await mill.platform.settled()
    await turn()
    expect(errors).toEqual([])
    expect(await mill.steps(id)).toEqual([])
  })

  test('P8 a wait that is awaited later does not end the process when its job is cancelled', async () => {
    const errors = unhandled()
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        const answer = step.waitForEvent('answer', { timeout: '1d' })
        await step.run('draft', () => (begun.resolve(), gate.promise))
        return answer
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await begun.promise
    await mill.platform.settled()
    await mill.cancel(id, 'not needed')
    await turn()
    gate.resolve()
    await mill.drain()
    await turn()
    expect(errors).toEqual([])
    expect((await mill.get(id))?.state).toBe('cancelled')
  })

  test('a handler that cleans up after a failed step is not parked by another wait', async () => {
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const job = defineJob({
      kind: 'a',
      maxAttempts: 1,
      async run({ step }) {
        try {
          await Promise.all([
            step.waitForEvent('e'),
            step.run('fails', () => Promise.reject(new Error('no'))),
          ])
        } finally {
          begun.resolve()
          await gate.promise
        }
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await begun.promise
    await mill.clock.advance('4s')
    expect((await mill.get(id))?.state).toBe('running')
    gate.resolve()
    await mill.drain()
    expect(await attempts(mill, id)).toEqual([['failed', 'Error: no']])
  })
})
