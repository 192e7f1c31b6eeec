/** Durable steps through a mill, on both stores: P17 and P18. */
import { describe, expect, test } from 'vitest'
import { Dead, defineJob, type JobContext } from '../../src/index.ts'
import { attempts, happened, subjects } from '../runtime/stores.ts'

const MINUTE = 60_000

const cleanUp = async (_: JobContext, next: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await next()
  } finally {
    await new Promise((resolve) => void setImmediate(() => setImmediate(resolve)))
  }
}

describe.each(subjects)('durable steps on $name', ({ mill: create }) => {
  test('P17 a failed attempt continues after the last recorded step, with the stored results', async () => {
    const ran: string[] = []
    let fails = true
    const job = defineJob({
      kind: 'onboard',
      maxAttempts: 3,
      backoff: { fixed: '1s' },
      async run({ step }) {
        const account = await step.run('account', () => (ran.push('account'), { id: ran.length }))
        const mail = await step.run('mail', () => {
          ran.push('mail')
          if (fails) throw new Error('smtp')
          return 'sent'
        })
        return { account, mail }
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(ran).toEqual(['account', 'mail'])
    fails = false
    await mill.drain({ scheduled: true })
    expect(ran).toEqual(['account', 'mail', 'mail'])
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: { account: { id: 1 }, mail: 'sent' } })
    expect(await mill.steps(id)).toMatchObject([
      { name: 'account', kind: 'run', place: 0, result: { id: 1 }, endedAt: expect.any(Number) as unknown },
      { name: 'mail', kind: 'run', place: 1, result: 'sent' },
    ])
  })

  test('onDead gets the recorded steps, newest first', async () => {
    const undone: unknown[] = []
    const job = defineJob({
      kind: 'saga',
      async run({ step }) {
        await step.run('reserve', () => ({ id: 7 }))
        await step.run('charge', () => {})
        await step.run('ship', () => Promise.reject(new Dead('no')))
      },
      onDead: ({ steps }) => void undone.push(...steps),
    })
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, null)
    await mill.drain()
    expect(undone).toEqual([
      { name: 'charge', result: undefined },
      { name: 'reserve', result: { id: 7 } },
    ])
  })

  test('retries are counted from the last recorded step', async () => {
    let failures = 0
    const failTwice = (name: string) => () => {
      failures += 1
      if (failures % 3 !== 0) throw new Error(name)
      return name
    }
    const job = defineJob({
      kind: 'a',
      maxAttempts: 3,
      backoff: { fixed: '1s' },
      async run({ step }) {
        for (const name of ['one', 'two', 'three']) await step.run(name, failTwice(name))
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(failures).toBe(9)
    expect((await mill.get(id))?.state).toBe('done')
  })

  test('P18 a sleep holds no worker, and the handler continues when it is over', async () => {
    const times: number[] = []
    const job = defineJob({
      kind: 'sleeps',
      async run({ step, now }) {
        times.push(now())
        await step.sleep('wait', '10m')
        return 'awake'
      },
    })
    const mill = await create({ jobs: [job], capacity: 1 })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    expect((await mill.counts()).find(({ queue }) => queue === 'default')).toMatchObject({ running: 0 })
    expect(await mill.steps(id)).toMatchObject([{ name: 'wait', kind: 'sleep', endedAt: null }])
    expect(happened(mill, id).toSorted()).toEqual(['enqueued', 'parked', 'started'])
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'awake' })
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(10 * MINUTE)
    expect(await attempts(mill, id)).toEqual([
      ['parked', null],
      ['returned', null],
    ])
  })

  test('P18 sleeps in a row: each parks the job once', async () => {
    const job = defineJob({
      kind: 'naps',
      async run({ step }) {
        for (const name of ['one', 'two', 'three']) await step.sleep(name, '10m')
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    const outcomes = (await attempts(mill, id)).map(([outcome]) => outcome)
    expect(outcomes).toEqual(['parked', 'parked', 'parked', 'returned'])
  })

  test('P18 an event is received before, during and after the wait began', async () => {
    const job = defineJob({
      kind: 'waits',
      async run({ step }) {
        const first = await step.waitForEvent('first')
        const second = await step.waitForEvent('second', { timeout: '1h' })
        return { first, second, third: await step.waitForEvent('third', { timeout: '10m' }) }
      },
    })
    const mill = await create({ jobs: [job], start: false })
    const { id } = await mill.enqueue(job, null, { dedupeKey: 'order 7' })
    // Before the handler has run at all.
    await mill.sendEvent(id, 'second', { n: 2 })
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', dueAt: null })
    expect(await mill.sendEvent({ dedupeKey: 'order 7' }, 'first', 'one')).toEqual({ id })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', dueAt: expect.any(Number) as unknown })
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({
      state: 'done',
      result: { first: 'one', second: { n: 2 }, third: null },
    })
    expect((await mill.steps(id))?.map(({ name, events }) => [name, events])).toEqual([
      ['first', ['first']],
      ['second', ['second']],
      ['third', ['third']],
    ])
    await expect(mill.sendEvent(id, 'late')).rejects.toMatchObject({ code: 'JOB_ENDED' })
    await expect(mill.sendEvent(crypto.randomUUID(), 'late')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(mill.sendEvent({ dedupeKey: 'none' }, 'late')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })

  test('a wait while the attempt holds a permit is refused', async () => {
    const job = defineJob({
      kind: 'a',
      maxAttempts: 1,
      async run({ step, limit }) {
        const permit = await limit.acquire('one')
        try {
          await step.sleep('wait', '1h')
        } finally {
          await permit.release()
        }
      },
    })
    const mill = await create({ jobs: [job], limits: { one: { concurrency: 1 } } })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({
      state: 'dead',
      error: expect.stringContaining('holds a permit') as unknown,
    })
  })

  test('a cancel reaches a parked job, and a handler that waits in its process', async () => {
    const job = defineJob({
      kind: 'a',
      run: ({ step }: JobContext<string>) =>
        Promise.all([step.sleep('long', '1d'), step.sleep('short', 900)]),
    })
    const mill = await create({ jobs: [job] })
    const running = await mill.enqueue(job, 'x')
    await mill.platform.settled()
    expect(await mill.cancel(running.id, 'not needed')).toMatchObject({ state: 'running' })
    await mill.drain()
    expect(await mill.get(running.id)).toMatchObject({ state: 'cancelled' })
    const parked = await mill.enqueue(job, 'x')
    await mill.clock.advance('2s')
    await mill.drain()
    expect((await mill.get(parked.id))?.state).toBe('scheduled')
    expect(await mill.cancel(parked.id)).toMatchObject({ verdict: 'changed', state: 'cancelled' })
  })

  test('a failed step fails the attempt although another one waits', async () => {
    const job = defineJob({
      kind: 'a',
      maxAttempts: 1,
      run: ({ step }) =>
        Promise.all([step.run('fails', () => Promise.reject(new Error('no'))), step.waitForEvent('e')]),
    })
    const mill = await create({ jobs: [job], middleware: [cleanUp] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await attempts(mill, id)).toEqual([['failed', 'Error: no']])
  })

  test('steps that a handler does not await do nothing after its end', async () => {
    const job = defineJob({
      kind: 'a',
      async run({ step }) {
        void step.sleep('deadline', '10s')
        void step.waitForEvent('never')
        return step.run('work', () => 1)
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    await mill.clock.advance('20s')
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1 })
    expect(happened(mill, id).toSorted()).toEqual(['enqueued', 'finished', 'started', 'step-recorded'])
  })

  test('a checkpoint reaches the next attempt, and a retried dead job keeps its steps', async () => {
    const seen: unknown[] = []
    const job = defineJob({
      kind: 'a',
      maxAttempts: 1,
      async run({ step }) {
        await step.run('once', () => void seen.push('once'))
        await step.run('rows', async ({ checkpoint = 0, saveCheckpoint }) => {
          seen.push(checkpoint)
          await saveCheckpoint((checkpoint as number) + 50)
          if (seen.length < 4) throw new Error('again')
        })
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect((await mill.get(id))?.state).toBe('dead')
    for (let n = 0; n < 2; n += 1) {
      await mill.retry(id)
      await mill.drain()
    }
    expect(seen).toEqual(['once', 0, 50, 100])
    expect((await mill.get(id))?.state).toBe('done')
    await mill.delete(id)
    expect(await mill.steps(id)).toBeNull()
  })
})
