/**
 * Risks of calling a handler without awaiting it: miscounted workers, jobs lost when a tracer fails, and
 * results that a caller can no longer read.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { Dead, defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { Tracing } from '../../src/job/tracing.ts'

const store = () => sqlite(':memory:')

describe('a run', () => {
  test('P7 of a handler that throws at once frees its worker for one job, not for all ready jobs', async () => {
    let running = 0
    let most = 0
    const gate = Promise.withResolvers<void>()
    async function slow(): Promise<void> {
      most = Math.max(most, (running += 1))
      await gate.promise
      running -= 1
    }
    const job = defineJob({
      kind: 'one',
      run({ payload }: JobContext<string>): Promise<void> {
        if (payload === 'bad') throw new Dead('no')
        return slow()
      },
    })
    // A plain mill, because a test mill wraps each handler.
    const mill = jobmill({ store: store(), jobs: [job], log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const [dead, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let [deadJobs, doneJobs] = [0, 0]
    mill.on('dead', () => void ((deadJobs += 1) === 100 && dead.resolve()))
    mill.on('finished', () => void ((doneJobs += 1) === 100 && done.resolve()))
    await mill.open()
    const items = Array.from({ length: 200 }, (_, n) => ({ payload: n < 100 ? 'bad' : 'slow' }))
    await mill.enqueueMany(job, items)
    await mill.start()
    await dead.promise
    gate.resolve()
    await done.promise
    expect(most).toBeLessThanOrEqual(10)
  })

  test.each(['throws', 'rejects'])('P3 of a job whose tracer %s ends and frees its worker', async (how) => {
    const tracing: Tracing = {
      enqueue: (jobs, write) => write(jobs),
      attempt: () => ({
        ids: null,
        run(): never {
          if (how === 'throws') throw new Error('the tracer')
          return Promise.reject(new Error('the tracer')) as never
        },
        ended() {},
        finish: () => Promise.reject(new Error('the tracer')),
      }),
    }
    const job = defineJob({ kind: 'one', maxAttempts: 1, run: () => 1 })
    const mill = jobmill({ store: store(), jobs: [job], log: 'silent', tracing })
    onTestFinished(async () => void (await mill.stop()))
    const died = new Promise<string>((resolve) => mill.on('dead', ({ id }) => resolve(id)))
    await mill.start()
    const { id } = await mill.enqueue(job, null)
    expect(await died).toBe(id)
    expect(await mill.get(id)).toMatchObject({
      state: 'dead',
      error: expect.stringContaining('the tracer') as string,
    })
  })

  test('leaves its result in its process, even if nothing is retained and no caller waited', async () => {
    const job = defineJob({ kind: 'one', run: () => 7 })
    const queues = { default: { retain: { done: 0 } } }
    const mill = jobmill({ store: store(), jobs: [job], log: 'silent', queues })
    onTestFinished(async () => void (await mill.stop()))
    const finished = new Promise<void>((resolve) => mill.on('finished', () => resolve()))
    await mill.start()
    const handle = await mill.enqueue(job, null)
    await finished
    expect(await handle.result({ timeout: '1m' })).toBe(7)
  })
})
