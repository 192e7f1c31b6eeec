/**
 * onDead runs exactly once for every way in which a job becomes dead, as a separate job. Runs on both stores.
 */
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type DeadContext, type JobContext } from '../../src/index.ts'
import { aJob } from '../../../conformance/src/index.ts'
import { subjects } from './stores.ts'

function dying(run: (context: JobContext<{ to: string }>) => unknown) {
  const deaths: DeadContext[] = []
  const job = defineJob({
    kind: 'mail',
    queue: 'out',
    maxAttempts: 2,
    backoff: { fixed: 0 },
    payload: z.object({ to: z.string() }),
    run,
    onDead: (context) => void deaths.push(context),
  })
  return { job, deaths }
}

describe.each(subjects)('onDead on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('runs after the last attempt and after Dead, with the payload, the error and the dead job', async () => {
    const { job, deaths } = dying(({ payload, attempt }) => {
      if (payload.to === 'nobody') throw new Dead('no such user')
      throw new Error(`attempt ${attempt}`)
    })
    const mill = await create({ jobs: [job] })
    const exhausted = await mill.enqueue(job, { to: 'ada' }, { tags: ['x'], metadata: { chat: 7 } })
    const gone = await mill.enqueue(job, { to: 'nobody' })
    await mill.drain({ scheduled: true })
    expect(deaths.map(({ dead, error }) => [dead.id, dead.attempt, error])).toEqual(
      expect.arrayContaining([
        [exhausted.id, 2, 'Error: attempt 2'],
        [gone.id, 1, 'Dead: no such user'],
      ]),
    )
    expect(deaths).toHaveLength(2)
    const death = deaths.find(({ dead }) => dead.id === exhausted.id)
    expect(death?.payload).toEqual({ to: 'ada' })
    expect(death?.dead).toMatchObject({ kind: 'mail', queue: 'out', tags: ['x'], metadata: { chat: 7 } })
    expect(death?.job).toMatchObject({ kind: 'mail:dead', queue: 'jobmill.dead' })
    expect((await mill.list({ kind: 'mail:dead', state: 'done' })).jobs).toHaveLength(2)
  })

  test('N16 it does not wait for the limit of the queue in which the job died', async () => {
    const { job, deaths } = dying(() => {
      throw new Dead('no')
    })
    const mill = await create({
      jobs: [job],
      limits: { slow: { rate: 1, per: '20s' } },
      queues: { out: { limit: 'slow' } },
    })
    const { id } = await mill.enqueue(job, { to: 'ada' })
    const startedAt = mill.clock.now()
    await mill.drain()
    expect(deaths.map(({ dead }) => [dead.id, dead.queue])).toEqual([[id, 'out']])
    expect(mill.clock.now() - startedAt).toBeLessThan(10_000)
    // With an order key, the onDead job is next in that order. Order keys count per queue, so it stays in its
    // queue.
    const ordered = await mill.enqueue(job, { to: 'ada' }, { orderKey: 'ada' })
    await mill.clock.advance('1m')
    await mill.drain()
    expect(deaths.at(-1)).toMatchObject({ dead: { id: ordered.id }, job: { queue: 'out' } })
  })

  test('gets a payload that no longer validates as it was stored', async () => {
    const { job, deaths } = dying(() => null)
    const mill = await create({ jobs: [job], start: false })
    await mill.open()
    await mill.store.enqueue([aJob({ kind: 'mail', queue: 'out', payload: { to: 7 } })])
    // A newer job would be released without spending an attempt, for a process of the next release.
    await mill.clock.advance('15m')
    await mill.start()
    await mill.drain({ scheduled: true })
    expect(deaths.map(({ payload, error }) => [payload, error])).toEqual([
      [{ to: 7 }, expect.stringContaining('payload.to')],
    ])
  })

  test('runs after crashes, even if the reaper does not know the kind', async () => {
    const { job, deaths } = dying(() => null)
    const mill = await create({ jobs: [job], start: false })
    const { id } = await mill.enqueue(job, { to: 'ada' })
    const { store } = mill
    for (let crash = 0; crash < 3; crash += 1) {
      const instance = mill.platform.id()
      const me = { queues: ['out'], kinds: ['mail'], onDead: ['mail'], capacity: 1, leaseMs: 1_000 }
      await store.instances.register({ id: instance, label: null, version: null, ...me })
      const quarantine = crash < 2 ? 'skip' : 'only'
      await store.claim({
        instance,
        queues: [{ queue: 'out', room: 1 }],
        kinds: ['mail'],
        limit: 1,
        quarantined: quarantine,
      })
      await mill.clock.advance('2s')
      await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    }
    expect(await mill.get(id)).toMatchObject({ state: 'dead', crashes: 3 })
    expect(deaths).toEqual([])
    await mill.start()
    await mill.drain()
    expect(deaths.map(({ dead, error }) => [dead.id, dead.crashes, error])).toEqual([
      [id, 3, 'its process crashed or stopped responding (crash 3)'],
    ])
  })

  test('D6 runs for a job that a reverted crash made dead; the job then runs, and result() resolves', async () => {
    const { job, deaths } = dying(() => 'sent')
    const mill = await create({ jobs: [job], start: false })
    const handle = await mill.enqueue(job, { to: 'ada' })
    const me = { queues: ['out'], kinds: ['mail'], onDead: ['mail'], capacity: 1, leaseMs: 1_000 }
    const instance = { id: mill.platform.id(), label: null, version: null, ...me }
    const { store } = mill
    const { instances } = store
    await instances.register(instance)
    await store.claim({
      instance: instance.id,
      queues: [{ queue: 'out', room: 1 }],
      kinds: ['mail'],
      limit: 1,
      quarantined: 'skip',
    })
    await mill.clock.advance('2s')
    await instances.reap({ crashesUntilDead: 1, limit: 10 })
    await mill.start()
    await mill.drain()
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_DEAD' })
    await instances.register(instance)
    await instances.deregister(instance.id)
    await mill.drain()
    expect(await handle.result()).toBe('sent')
    expect(deaths.map(({ dead }) => dead.id)).toEqual([handle.id])
  })

  test('is retried like any job, and has no onDead of its own', async () => {
    let runs = 0
    const job = defineJob({
      kind: 'mail',
      maxAttempts: 1,
      run: () => Promise.reject(new Error('no')),
      onDead() {
        runs += 1
        throw new Error('and this fails too')
      },
    })
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(runs).toBe(5)
    expect(await mill.count({ state: ['dead', 'ready', 'scheduled'] })).toMatchObject({
      byState: { dead: 2, ready: 0, scheduled: 0 },
    })
  })

  test('runs again for a job that dies again after a retry', async () => {
    const { job, deaths } = dying(() => Promise.reject(new Dead('still no')))
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { to: 'ada' })
    await mill.drain()
    expect(await mill.retry(id)).toMatchObject({ verdict: 'changed', state: 'ready' })
    await mill.clock.advance(1)
    await mill.drain()
    expect(deaths.map(({ dead }) => dead.id)).toEqual([id, id])
  })
})
