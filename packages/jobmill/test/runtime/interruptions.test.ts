/**
 * Cancels and timeouts: the signal, its reason, which of the two wins, and handlers that ignore the signal.
 * Runs on both stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, Interruption, type JobContext } from '../../src/index.ts'
import { attempts, happened, subjects } from './stores.ts'

/** A job that runs until its gate opens or, unless it is deaf, its signal fires. */
function gated({ deaf = false, timeout }: { deaf?: boolean; timeout?: string } = {}) {
  const entered = Promise.withResolvers<AbortSignal>()
  const gate = Promise.withResolvers<string>()
  const job = defineJob({
    kind: 'gated',
    maxAttempts: 2,
    backoff: { fixed: '1m' },
    ...(timeout === undefined ? {} : { timeout }),
    async run({ signal }: JobContext<null>) {
      entered.resolve(signal)
      if (deaf) return gate.promise
      const fired = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      return Promise.race([gate.promise, fired])
    },
  })
  return { job, entered: entered.promise, open: gate.resolve }
}

describe.each(subjects)('interruptions on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('P8 a cancel in this process fires the signal before it returns, with the reason, and the job ends cancelled', async () => {
    const { job, entered } = gated()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    expect(await mill.cancel(id, 'no longer needed')).toMatchObject({ verdict: 'changed', state: 'running' })
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toBeInstanceOf(Interruption)
    expect(signal.reason).toMatchObject({ why: 'cancelled', message: 'no longer needed' })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'cancelled', error: 'no longer needed' })
    expect(await attempts(mill, id)).toEqual([['cancelled', 'no longer needed']])
    expect(happened(mill, id)).toContain('cancelled')
    expect(await mill.cancel(id)).toEqual({ id, verdict: 'unchanged', state: 'cancelled' })
  })

  test('P8 a cancel from another process fires the signal with the next heartbeat', async () => {
    const { job, entered } = gated()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    await mill.store.cancel([id], 'from elsewhere')
    expect(signal.aborted).toBe(false)
    await mill.clock.advance('1s')
    expect(signal.reason).toMatchObject({ why: 'cancelled', message: 'from elsewhere' })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'cancelled' })
  })

  test('P8 a job that returns after the cancel stays done', async () => {
    const { job, entered, open } = gated({ deaf: true })
    const mill = await create({ jobs: [job] })
    const handle = await mill.enqueue(job, null)
    await entered
    await mill.cancel(handle.id, 'too late')
    open('finished all the same')
    expect(await handle.result()).toBe('finished all the same')
    expect(await mill.cancel(handle.id)).toMatchObject({ verdict: 'refused', state: 'done' })
  })

  test('P8 a cancelled job that would be snoozed, retried or dead ends cancelled; a waiting one at once', async () => {
    const { job, entered } = gated()
    let dead = 0
    const failing = defineJob({
      kind: 'failing',
      maxAttempts: 1,
      async run({ signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw new Error('its own trouble')
      },
      onDead: () => (dead += 1),
    })
    const mill = await create({ jobs: [job, failing] })
    const waiting = await mill.enqueue(job, null, { delay: '1h' })
    expect(await mill.cancel(waiting.id)).toMatchObject({ verdict: 'changed', state: 'cancelled' })
    const running = await mill.enqueue(failing, null)
    await mill.enqueue(job, null)
    await entered
    await mill.cancel(running.id, 'stop it')
    await mill.clock.advance('1s')
    expect(await mill.get(running.id)).toMatchObject({ state: 'cancelled', error: 'stop it' })
    // A cancelled job is not dead, so onDead does not run.
    expect(dead).toBe(0)
    expect(mill.enqueued('failing:dead')).toEqual([])
  })

  test('a timeout fires the signal, counts as a failure with its own outcome, and is retried', async () => {
    const { job, entered } = gated({ timeout: '5s' })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    await mill.clock.advance(4_999)
    expect(signal.aborted).toBe(false)
    await mill.clock.advance(1)
    expect(signal.reason).toMatchObject({ why: 'timeout', message: 'timed out after 5000 ms' })
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    expect(await attempts(mill, id)).toEqual([['timed-out', 'Interruption: timed out after 5000 ms']])
    expect(happened(mill, id).slice(-2)).toEqual(['timed-out', 'retried'])
    await mill.clock.advance('2m')
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 2 })
  })

  test('the timeout of a job overrides that of its kind, and a job that returns late stays done', async () => {
    const { job, entered, open } = gated({ deaf: true, timeout: '1h' })
    const mill = await create({ jobs: [job] })
    const handle = await mill.enqueue(job, null, { timeout: '2s' })
    const signal = await entered
    await mill.clock.advance('2s')
    expect(signal.aborted).toBe(true)
    open('late, but done')
    expect(await handle.result()).toBe('late, but done')
  })

  test('a handler that ignores its signal keeps its worker, and is reported as stuck once', async () => {
    const { job, entered, open } = gated({ deaf: true, timeout: '5s' })
    const mill = await create({ jobs: [job], queues: { default: { workers: 1 } }, stuckAfter: '10s' })
    const first = await mill.enqueue(job, null)
    await entered
    const second = await mill.enqueue(job, null)
    await mill.clock.advance('14s')
    expect(happened(mill, first.id)).not.toContain('stuck')
    await mill.clock.advance('1m')
    expect(happened(mill, first.id).filter((type) => type === 'stuck')).toHaveLength(1)
    expect(await mill.get(first.id)).toMatchObject({ state: 'running', attempt: 1 })
    expect(await mill.get(second.id)).toMatchObject({ state: 'ready', attempt: 0 })
    open('at last')
    expect(await first.result()).toBe('at last')
    expect(await second.result()).toBe('at last')
  })
})
