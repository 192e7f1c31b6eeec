// Inline mode: the caller of enqueue waits for the job.
import { describe, expect, test } from 'vitest'
import { Dead, defineJob, type JobContext, type JobDefinition } from '../../src/index.ts'
import { testMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { echo, flaky, gatedJob, turns } from './support.ts'

describe('inline', () => {
  test('enqueue resolves after the job is done, even if the handler takes real time', async () => {
    const real = defineJob({ kind: 'real', run: () => turns(100).then(() => 'done') })
    await using mill = await testMill({ jobs: [real], inline: true })
    const before = mill.clock.now()
    const job = await mill.enqueue(real, null)
    expect(await mill.get(job.id)).toMatchObject({ state: 'done', result: 'done' })
    expect(await job.result()).toBe('done')
    expect(job.outcome).toBe('enqueued')
    expect(mill.clock.now()).toBe(before)
  })

  test('enqueueMany resolves after all jobs are done', async () => {
    await using mill = await testMill({ jobs: [echo], inline: true })
    const jobs = await mill.enqueueMany(
      echo,
      Array.from({ length: 30 }, (_, n) => ({ payload: { n } })),
    )
    expect((await mill.counts())[0]).toMatchObject({ done: 30, ready: 0, running: 0 })
    expect(jobs).toHaveLength(30)
  })

  test('a job that died, was cancelled, or will be retried counts as ended', async () => {
    const doomed = defineJob({
      kind: 'doomed',
      run: () => {
        throw new Dead('no use')
      },
    })
    const cancels = defineJob({
      kind: 'cancels',
      async run({ job, signal }: JobContext<null>) {
        await mill.cancel(job.id)
        signal.throwIfAborted()
      },
    })
    await using mill = await testMill({ jobs: [doomed, cancels, flaky], inline: true })
    const dead = await mill.enqueue(doomed, null)
    expect(await mill.get(dead.id)).toMatchObject({ state: 'dead' })
    const cancelled = await mill.enqueue(cancels, null)
    expect(await mill.get(cancelled.id)).toMatchObject({ state: 'cancelled' })
    const later = await mill.enqueue(flaky, { failures: 1 })
    expect(await mill.get(later.id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    await mill.clock.advance('5m')
    expect(await mill.get(later.id)).toMatchObject({ state: 'done' })
  })

  test('enqueue does not wait for a delayed job, a duplicate, or a job that this mill does not run', async () => {
    await using mill = await testMill({ jobs: [echo], inline: true })
    const later = await mill.enqueue(echo, { n: 1 }, { delay: '1h', dedupeKey: 'one' })
    expect(await mill.get(later.id)).toMatchObject({ state: 'scheduled' })
    expect(await mill.enqueue(echo, { n: 2 }, { dedupeKey: 'one' })).toMatchObject({ outcome: 'duplicate' })
    const foreign = await mill.enqueue('foreign', null)
    expect(await mill.get(foreign.id)).toMatchObject({ state: 'ready' })
    await mill.pause('default')
    const paused = await mill.enqueue(echo, { n: 3 })
    expect(await mill.get(paused.id)).toMatchObject({ state: 'ready' })
  })

  test('enqueue waits for a job that replaces a waiting one', async () => {
    await using mill = await testMill({ jobs: [flaky], inline: true })
    const dedupe = { key: 'one', onConflict: 'replace' } as const
    const first = await mill.enqueue(flaky, { failures: 1 }, { dedupe })
    expect(await mill.get(first.id)).toMatchObject({ state: 'scheduled' })
    const second = await mill.enqueue(flaky, { failures: 0 }, { dedupe })
    expect(second).toMatchObject({ id: first.id, outcome: 'replaced' })
    expect(await mill.get(first.id)).toMatchObject({ state: 'done' })
  })

  test('waits for its own job and not for others', async () => {
    const { job, entered, open } = gatedJob()
    await using mill = await testMill({ jobs: [echo, job], inline: true })
    const slow = mill.enqueue(job, null)
    await entered
    const quick = await mill.enqueue(echo, { n: 1 })
    expect(await mill.get(quick.id)).toMatchObject({ state: 'done' })
    open('opened')
    expect(await (await slow).result()).toBe('opened')
  })

  test('a handler can enqueue through the mill, and waits for that job', async () => {
    const outer: JobDefinition<null> = defineJob({
      kind: 'outer',
      async run(): Promise<unknown> {
        const inner = await mill.enqueue(echo, { n: 5 })
        return (await mill.get(inner.id))?.state
      },
    })
    await using mill = await testMill({ jobs: [echo, outer], inline: true })
    const job = await mill.enqueue(outer, null)
    expect(await job.result()).toBe('done')
  })

  test('needs a started mill', async () => {
    const error = await rejection(() => testMill({ jobs: [echo], inline: true, start: false }))
    expect([error.code, error.field]).toEqual(['OPTION_CONFLICT', 'start'])
  })
})
