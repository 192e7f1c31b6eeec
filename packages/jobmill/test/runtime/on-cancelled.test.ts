/** onCancelled runs once for each job that is cancelled, as a separate job. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { type CancelledContext, defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { lent, subjects } from './stores.ts'

interface Order {
  readonly order: string
}

function cancellable(run: (context: JobContext<Order>) => unknown = () => null) {
  const cancels: CancelledContext<Order>[] = []
  const job = defineJob({
    kind: 'order',
    backoff: { fixed: 0 },
    run: (context: JobContext<Order>) => run(context),
    onCancelled: (context) => void cancels.push(context),
  })
  return { job, cancels }
}

describe.each(subjects)('onCancelled on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('P3 gets the recorded steps of the cancelled job, newest first, and the reason', async () => {
    const { job, cancels } = cancellable(async ({ step }) => {
      await step.run('reserve', () => ({ seat: 7 }))
      await step.run('charge', () => 'ch_1')
      await step.waitForEvent('shipped')
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { order: 'o-1' }, { tags: ['eu'] })
    await mill.drain()
    await mill.cancel(id, 'the customer called')
    await mill.drain({ scheduled: true })
    expect(cancels).toMatchObject([
      {
        payload: { order: 'o-1' },
        reason: 'the customer called',
        cancelled: { id, kind: 'order', queue: 'default', tags: ['eu'] },
        steps: [
          { name: 'charge', result: 'ch_1' },
          { name: 'reserve', result: { seat: 7 } },
        ],
        job: { kind: 'order:cancelled', queue: 'jobmill.cancelled' },
      },
    ])
    expect((await mill.kinds()).map(({ kind }) => kind)).toEqual(['order'])
  })

  test('P3 runs for a waiting job, also if the process that cancels it does not know its kind', async () => {
    const { job, cancels } = cancellable()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { order: 'o-1' }, { delay: '1h' })
    const other = jobmill({ store: lent(mill), platform: mill.platform, log: 'silent' })
    await other.cancel(id, 'not needed')
    await other.stop()
    await mill.drain()
    expect(cancels.map(({ cancelled, reason, steps }) => [cancelled.id, reason, steps])).toEqual([
      [id, 'not needed', []],
    ])
  })

  test('P3 runs for a running job, after its handler has stopped', async () => {
    let [isRunning, hasStopped] = [() => {}, false]
    const runs = new Promise<void>((resolve) => (isRunning = resolve))
    const seen: boolean[] = []
    const job = defineJob({
      kind: 'order',
      async run({ signal }) {
        isRunning()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        hasStopped = true
        signal.throwIfAborted()
      },
      onCancelled: () => void seen.push(hasStopped),
    })
    const mill = await create({ jobs: [job] })
    await mill.start()
    const { id } = await mill.enqueue(job, null)
    await runs
    await mill.cancel(id)
    await mill.clock.advance('10s')
    await mill.drain()
    expect((await mill.get(id))?.state).toBe('cancelled')
    expect(seen).toEqual([true])
  })

  test('P3 runs for each child that is cancelled with its parent', async () => {
    const { job, cancels } = cancellable(({ step }) => step.waitForEvent('never'))
    const parent = defineJob({
      kind: 'parent',
      run: ({ step }) => step.children('orders', job, [{ order: 'o-1' }, { order: 'o-2' }]),
    })
    const mill = await create({ jobs: [job, parent] })
    const { id } = await mill.enqueue(parent, null)
    await mill.drain()
    await mill.cancel(id)
    await mill.drain()
    expect(cancels.map(({ payload }) => payload.order).toSorted()).toEqual(['o-1', 'o-2'])
  })

  test('is retried like any job, runs in steps of its own, and has no onCancelled of its own', async () => {
    const undone: string[] = []
    let fails = true
    const job = defineJob({
      kind: 'order',
      backoff: { fixed: 0 },
      run: ({ step }) => step.waitForEvent('never'),
      async onCancelled({ step }) {
        await step.run('refund', () => void undone.push('refund'))
        if (fails) throw new Error('smtp')
        await step.run('mail', () => void undone.push('mail'))
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    await mill.cancel(id)
    await mill.drain()
    const [followUp] = (await mill.list({ kind: 'order:cancelled' })).jobs
    expect(followUp?.state).not.toBe('done')
    fails = false
    await mill.drain({ scheduled: true })
    expect(undone).toEqual(['refund', 'mail'])
    expect((await mill.list({ kind: 'order:cancelled', state: 'done' })).jobs).toHaveLength(1)
    expect((await mill.list({ kind: 'order:cancelled:cancelled' })).jobs).toEqual([])
  })

  test('a kind whose name only looks like that of a follow-up is listed', async () => {
    const { job } = cancellable()
    const kinds = ['mail', 'mail:cancelled'].map((kind) => defineJob({ kind, run: () => null }))
    const mill = await create({ jobs: [job, ...kinds] })
    expect((await mill.kinds()).map(({ kind }) => kind)).toEqual(['mail', 'mail:cancelled', 'order'])
  })

  test('does not run for done and dead jobs, nor for kinds without it', async () => {
    const { job, cancels } = cancellable()
    const plain = defineJob({ kind: 'plain', run: () => null })
    const mill = await create({ jobs: [job, plain] })
    await mill.enqueue(job, { order: 'o-1' })
    const { id } = await mill.enqueue(plain, null, { delay: '1h' })
    await mill.cancel(id)
    await mill.drain()
    expect(cancels).toEqual([])
    expect((await mill.list({ queue: 'jobmill.cancelled' })).jobs).toEqual([])
  })
})
