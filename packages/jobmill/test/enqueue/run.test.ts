/** `mill.run`: one call that enqueues and awaits. */
import { expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { defineJob, jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { testMill } from '../../src/testing/index.ts'

const double = defineJob({
  kind: 'double',
  payload: z.object({ n: z.number() }),
  run: ({ payload }) => ({ twice: payload.n * 2 }),
})
const now = defineJob({ kind: 'now', run: () => 'done' })

/** Runs until its signal fires. */
function endless() {
  const started = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<string>()
  const job = defineJob({
    kind: 'endless',
    run: ({ signal }) =>
      new Promise<void>((_, reject) => {
        started.resolve()
        signal.addEventListener('abort', () => {
          stopped.resolve((signal.reason as Error).message)
          reject(signal.reason as Error)
        })
      }),
  })
  return { job, started: started.promise, stopped: stopped.promise }
}

it('resolves to the typed result', async () => {
  const mill = jobmill({ store: sqlite(':memory:'), jobs: [double, now], log: 'silent' })
  await mill.start()
  const result = await mill.run(double, { n: 4 }, { timeout: '1m' })
  expectTypeOf(result).toEqualTypeOf<{ twice: number }>()
  expect(result).toEqual({ twice: 8 })
  await expect(mill.run(now)).resolves.toBe('done')
  await expect(mill.run('now')).resolves.toBe('done')
  await mill.stop()
})

it('rejects when the job is dead, and refuses an invalid payload', async () => {
  const failing = defineJob({ kind: 'failing', maxAttempts: 1, run: () => Promise.reject(new Error('no')) })
  await using mill = await testMill({ jobs: [failing, double] })
  await expect(mill.run(failing)).rejects.toMatchObject({ code: 'JOB_DEAD' })
  // @ts-expect-error the payload has no n
  await expect(mill.run(double, {})).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
})

it('leaves the job alone after the timeout', async () => {
  const { job, started } = endless()
  await using mill = await testMill({ jobs: [job] })
  const result = mill.run(job, null, { timeout: '5s' })
  result.catch(() => {})
  await started
  await mill.clock.advance('5s')
  await expect(result).rejects.toMatchObject({ code: 'RESULT_TIMEOUT' })
  const [record] = mill.enqueued(job)
  expect((await mill.get(record?.id ?? ''))?.state).toBe('running')
  await mill.cancel(record?.id ?? '')
})

it('cancels the job with cancelOnTimeout', async () => {
  const { job, started, stopped } = endless()
  await using mill = await testMill({ jobs: [job] })
  const result = mill.run(job, null, { timeout: '5s', cancelOnTimeout: true })
  result.catch(() => {})
  await started
  await mill.clock.advance('5s')
  await expect(result).rejects.toMatchObject({ code: 'RESULT_TIMEOUT' })
  await expect(stopped).resolves.toContain('the caller of run stopped waiting')
})

it('cancels the job when the signal of the caller fires', async () => {
  const { job, started, stopped } = endless()
  await using mill = await testMill({ jobs: [job] })
  const caller = new AbortController()
  const result = mill.run(job, null, { signal: caller.signal, cancelOnTimeout: true })
  result.catch(() => {})
  await started
  caller.abort(new Error('client left'))
  await expect(result).rejects.toThrow('client left')
  await expect(stopped).resolves.toContain('the caller of run stopped waiting')
})

it('never cancels a job that another call enqueued', async () => {
  const { job, started } = endless()
  await using mill = await testMill({ jobs: [job] })
  const first = await mill.enqueue(job, null, { dedupeKey: 'one' })
  await started
  const second = mill.run(job, null, { dedupeKey: 'one', timeout: '5s', cancelOnTimeout: true })
  second.catch(() => {})
  await mill.clock.advance('5s')
  await expect(second).rejects.toMatchObject({ code: 'RESULT_TIMEOUT' })
  expect((await mill.get(first.id))?.state).toBe('running')
  await mill.cancel(first.id)
})

it.each([
  [{ timeout: 'soon' }, 'options.timeout'],
  [{ cancelOnTimeout: 'yes' }, 'options.cancelOnTimeout: must be true or false'],
  [{ tx: {} }, 'Enqueue in the transaction, commit it, and then await job.result()'],
  [{ dely: '5s' }, 'Did you mean "delay"?'],
  [5, "Pass { timeout: '10s' }"],
])('refuses %o before it writes anything', async (options, text) => {
  await using mill = await testMill({ jobs: [now] })
  await expect(mill.run(now, null, options as never)).rejects.toThrow(text)
  expect(mill.enqueued(now)).toEqual([])
})
