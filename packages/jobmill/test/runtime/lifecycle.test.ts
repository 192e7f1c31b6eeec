/**
 * Starting and stopping a mill: twice, too early, too late, and with an unreachable store. Runs on both
 * stores.
 */
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, jobmill } from '../../src/index.ts'
import type { FullStore } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { aClaim, anInstance } from '../../../conformance/src/factories.ts'
import { type Faults, faultyStore } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { happened, lent, subjects } from './stores.ts'

function gated() {
  const entered = Promise.withResolvers<AbortSignal>()
  const gate = Promise.withResolvers<string>()
  const job = defineJob({
    kind: 'gated',
    run({ signal }: JobContext<{ deaf: boolean }>) {
      entered.resolve(signal)
      return gate.promise
    },
  })
  return { job, entered: entered.promise, open: gate.resolve }
}

const quick = defineJob({ kind: 'quick', run: () => 'done' })

describe.each(subjects)('the lifecycle of a mill on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('a second start returns the same promise', async () => {
    const { store, platform } = await create({ jobs: [quick], start: false })
    const mill = jobmill({ store, platform, jobs: [quick], log: 'silent' })
    expect(mill.start()).toBe(mill.start())
    await mill.start()
    expect((await mill.instances()).map(({ state }) => state)).toEqual(['alive'])
    await mill.stop()
  })

  test('a mill can stop before it starts, and then refuses every call with a code', async () => {
    const mill = await create({ jobs: [quick], start: false })
    expect(await mill.stop()).toMatchObject({ finished: 0, interrupted: 0 })
    expect(await rejection(() => mill.start())).toMatchObject({ code: 'MILL_STOPPED' })
    expect(await rejection(() => mill.enqueue(quick, null))).toMatchObject({ code: 'MILL_STOPPED' })
    expect(await rejection(() => mill.get('01890000-0000-7000-8000-000000000000'))).toMatchObject({
      code: 'MILL_STOPPED',
    })
    expect(mill.stop()).toBe(mill.stop())
  })

  test('A a new process claims at once, and reaps only after one lease of contact', async () => {
    const mill = await create({ jobs: [quick], serve: ['default'], start: false })
    const held = await mill.enqueue(quick, null)
    const crashed = anInstance()
    await mill.store.instances.register(crashed)
    const [lease] = await mill.store.claim(aClaim(crashed.id, { kinds: [quick.kind] }))
    expect(lease?.id).toBe(held.id)
    await mill.clock.advance('1m')
    // A job with a dedupe key is never dispatched directly, so the mill has to claim it.
    const next = await mill.enqueue(quick, null, { dedupeKey: 'claimed' })
    await mill.start()
    await mill.clock.advance('8s')
    expect(happened(mill, next.id)).toContain('finished')
    expect(await mill.get(held.id)).toMatchObject({ state: 'running', crashes: 0 })
    await mill.clock.advance('8s')
    expect(await mill.get(held.id)).toMatchObject({ state: 'done', crashes: 1 })
  })

  test('a stop during the start waits for the start', async () => {
    const mill = await create({ jobs: [quick], start: false })
    const starting = mill.start()
    await Promise.all([starting, mill.stop()])
    expect(mill.platform.pendingTimers).toBe(0)
  })

  test('P6 D low a handler that awaits the stop of its own mill gets an error with the fix, and the mill stops', async () => {
    const refused = Promise.withResolvers<unknown>()
    const inner = { stop: (): Promise<unknown> => Promise.resolve() }
    const job = defineJob({
      kind: 'quits',
      async run() {
        await Promise.resolve()
        await inner.stop().then(refused.resolve, refused.resolve)
      },
    })
    const mill = await create({ jobs: [job] })
    inner.stop = () => mill.stop()
    await mill.enqueue(job, null)
    const error = await refused.promise
    expect(error).toMatchObject({ code: 'HANDLER_INVALID', field: 'stop' })
    expect(String(error)).toContain('Use void mill.stop() instead of await, and return from the handler')
    expect(await mill.stop()).toMatchObject({ interrupted: 0 })
  })

  test('P6 D a handler stops another mill, even after awaits, and its job is done', async () => {
    const job = defineJob({
      kind: 'hands-over',
      maxAttempts: 1,
      async run() {
        const other = jobmill({ store: sqlite(':memory:'), jobs: [quick], log: 'silent' })
        await other.start()
        await other.stop()
        return 'handed over'
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'handed over' })
  })

  test('P6 D a handler behind middleware that awaits the stop of its own mill is refused', async () => {
    const inner = { stop: (): Promise<unknown> => Promise.resolve() }
    const job = defineJob({
      kind: 'quits',
      async run() {
        await Promise.resolve()
        return rejection(() => inner.stop())
      },
    })
    const refused = Promise.withResolvers<unknown>()
    const mill = await create({
      jobs: [job],
      middleware: [async (_, next) => refused.resolve(await next())],
    })
    inner.stop = () => mill.stop()
    await mill.enqueue(job, null)
    expect(await refused.promise).toMatchObject({ code: 'HANDLER_INVALID', field: 'stop' })
    await mill.stop()
  })

  test('P6 D functions of the application can be called runAttempt', async () => {
    const mill = await create({ jobs: [quick] })
    async function runAttempt(): Promise<unknown> {
      await Promise.resolve()
      return await mill.stop()
    }
    async function runAttemptInside(): Promise<unknown> {
      return await runAttempt()
    }
    expect(await runAttemptInside()).toMatchObject({ interrupted: 0 })
  })

  test('a mill that is not started can enqueue and read, and serves nothing', async () => {
    const mill = await create({ start: false })
    const { id } = await mill.enqueue('anything', { n: 1 })
    expect(await mill.get(id)).toMatchObject({ state: 'ready', payload: { n: 1 } })
    expect(await rejection(() => mill.serve('mail'))).toMatchObject({ code: 'MILL_NOT_STARTED' })
    expect(await mill.instances()).toEqual([])
  })

  test('result() rejects for an unknown job, and after its timeout', async () => {
    const { job, entered, open } = gated()
    const mill = await create({ jobs: [job] })
    const unknown = mill.job('01890000-0000-7000-8000-000000000000')
    expect(await rejection(() => unknown.result())).toMatchObject({ code: 'JOB_UNKNOWN', field: 'id' })
    expect(() => mill.job('not an id')).toThrow(expect.objectContaining({ code: 'ID_INVALID' }) as Error)
    const handle = await mill.enqueue(job, { deaf: true })
    await entered
    const late = rejection(() => handle.result({ timeout: '5s' }))
    await mill.clock.advance('5s')
    expect(await late).toMatchObject({ code: 'RESULT_TIMEOUT' })
    const controller = new AbortController()
    const aborted = handle.result({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    expect(await rejection(() => handle.result({ timout: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
    })
    open('in the end')
    expect(await handle.result()).toBe('in the end')
  })

  test('a pending result rejects when the mill stops', async () => {
    const { job } = gated()
    const mill = await create({ jobs: [job], start: false })
    const handle = await mill.enqueue(job, { deaf: true })
    const error = rejection(() => handle.result())
    await mill.stop()
    expect(await error).toMatchObject({ code: 'MILL_STOPPED' })
  })

  test('P6 a stop lets running jobs finish within the grace period, and their outcomes count', async () => {
    const { job, entered, open } = gated()
    const mill = await create({ jobs: [job, quick] })
    const handle = await mill.enqueue(job, { deaf: true })
    const signal = await entered
    const stopping = mill.stop({ grace: '10s' })
    const after = await mill.enqueue(quick, null)
    await mill.platform.advance('9s')
    expect(signal.aborted).toBe(false)
    expect(happened(mill, after.id)).not.toContain('started')
    open('in time')
    expect(await stopping).toMatchObject({ finished: 1, interrupted: 0 })
    expect(happened(mill, handle.id)).toContain('finished')
    expect(mill.platform.pendingTimers).toBe(0)
  })

  test('P6 A after the grace period the signal fires, and abandoned jobs are reported and released without spending an attempt', async () => {
    const { job, entered, open } = gated()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { deaf: true })
    const signal = await entered
    const other = mill.platform.track(mill.store)
    const stopping = mill.stop({ grace: '10s' })
    await mill.platform.advance('10s')
    expect(signal.reason).toMatchObject({ why: 'shutdown' })
    const record = other.get([id])
    await mill.platform.advance('1s')
    expect(await stopping).toMatchObject({ finished: 0, interrupted: 1 })
    expect((await record)[0]?.state).toBe('running')
    expect(mill.events.find(({ type }) => type === 'grace-expired')).toMatchObject({
      jobs: [{ id, kind: job.kind, attempt: 1, isAbandoned: true }],
    })
    open('too late for anybody')
    await mill.platform.settled()
    expect(happened(mill, id)).not.toContain('finished')
  })

  test('P6 a stop waits for a claim in flight, and releases its jobs', async () => {
    const faults: Faults[] = []
    const mill = await create({ jobs: [quick] }, (store) => {
      const faulty = faultyStore(store)
      faults.push(faulty)
      return faulty
    })
    await mill.platform.settled()
    const claim = faults[0]?.holdReply('claim')
    // A job with a dedupe key is never dispatched directly, so the mill has to claim it.
    const { id } = await mill.enqueue(quick, null, { dedupeKey: 'claimed' })
    await claim?.reached
    const stopping = mill.stop({ grace: 0 })
    claim?.release()
    expect(await stopping).toMatchObject({ finished: 0, returned: 1, interrupted: 0 })
    expect(happened(mill, id)).toEqual(['enqueued', 'released'])
    expect(mill.platform.pendingTimers).toBe(0)
  })

  test('P6 D low a release that could not be written is neither emitted nor counted', async () => {
    const faults: Faults[] = []
    const mill = await create({ jobs: [quick] }, (store) => {
      const faulty = faultyStore(store)
      faults.push(faulty)
      return faulty
    })
    await mill.platform.settled()
    const claim = faults[0]?.holdReply('claim')
    const { id } = await mill.enqueue(quick, null, { dedupeKey: 'claimed' })
    await claim?.reached
    faults[0]?.fail('finish', { times: Infinity })
    const stopping = mill.stop({ grace: 0 })
    claim?.release()
    await mill.platform.advance('1m')
    expect(await stopping).toMatchObject({ finished: 0, returned: 0, interrupted: 0 })
    expect(happened(mill, id)).toEqual(['enqueued'])
  })

  test('P6 a handler that ignored an earlier signal is counted and reported as interrupted too', async () => {
    const { job, entered } = gated()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { deaf: true }, { timeout: '1s' })
    await entered
    await mill.clock.advance('2s')
    const stopping = mill.stop({ grace: 0 })
    await mill.platform.advance('1s')
    expect(await stopping).toMatchObject({ finished: 0, returned: 0, interrupted: 1 })
    expect(happened(mill, id)).toContain('interrupted')
    expect(mill.events.find(({ type }) => type === 'mill-stopping')).toMatchObject({ running: 1, graceMs: 0 })
  })

  test('a start that fails leaves the store open for concurrent enqueues', async () => {
    const faults: Faults[] = []
    const mill = await create({ jobs: [quick], start: false }, (store) => {
      const faulty = faultyStore(store)
      faults.push(faulty)
      return faulty
    })
    faults[0]?.fail('instances.register')
    const [start, job] = await Promise.allSettled([mill.start(), mill.enqueue(quick, null)])
    expect([start.status, job.status]).toEqual(['rejected', 'fulfilled'])
    await mill.start()
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: 1 })
  })

  test('two mills share a store: the last one closes it', async () => {
    const { store, platform } = await create({ start: false })
    const shared = { store, platform, jobs: [quick], log: 'silent' } as const
    const [one, other] = [jobmill(shared), jobmill(shared)]
    await Promise.all([one.start(), other.start()])
    await one.stop()
    const { id } = await other.enqueue(quick, null)
    await platform.settled()
    expect(await other.get(id)).toMatchObject({ state: 'done' })
    await other.stop()
    expect(await rejection(() => store.counts())).toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('a mill that never used a shared store, or could not open it, does not close it', async () => {
    const faults: Faults[] = []
    const { store, platform } = await create({ start: false }, (inner) => {
      const faulty = faultyStore(inner)
      faults.push(faulty)
      return faulty
    })
    const shared = { store, platform, jobs: [quick], log: 'silent' } as const
    const mill = jobmill(shared)
    await mill.start()
    await jobmill(shared).stop()
    faults[0]?.fail('queues.declare')
    const failing = jobmill({ ...shared, queues: { other: {} } })
    expect(await rejection(() => failing.open())).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await failing.stop()
    expect(await mill.counts()).toHaveLength(1)
    await mill.stop()
    expect(await rejection(() => store.counts())).toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('P6 a store that does not close delays a stop by at most 5 s', async () => {
    const { store, platform } = await create({ start: false })
    const hanging = { ...store, close: () => new Promise<void>(() => {}) }
    const mill = jobmill({ store: hanging, platform, jobs: [quick], log: 'silent' })
    await mill.start()
    const stopping = mill.stop()
    await platform.settled()
    await platform.advance('5s')
    expect((await stopping).tookMs).toBe(5_000)
    expect(mill.eventCounts.emitted['store-failing']).toBe(1)
    await store.close()
  })

  test('P10 wake() of a process that only enqueues notifies the queues of its transactions', async () => {
    const wakeUp: string[] = []
    const mill = await create({ start: false }, (inner) => ({
      ...inner,
      enqueue: (jobs) => inner.enqueue(jobs),
      notifier: { ...inner.notifier, notify: (queues) => void wakeUp.push(...queues) },
    }))
    await mill.enqueue('a', null, { queue: 'mail', tx: {} })
    mill.wake()
    mill.wake()
    expect(wakeUp).toEqual(['mail'])
  })

  test('queues named in code exist before any start', async () => {
    const mill = await create({ start: false, queues: { mail: { workers: 3 } } })
    expect(await mill.pause('mail')).toMatchObject({ name: 'mail', workers: 3, paused: true })
  })

  test('an unknown kind that resembles one of ours is reported once', async () => {
    const mill = await create({ jobs: [quick] })
    await mill.enqueue('qiuck', null)
    await mill.enqueue('qiuck', null)
    await mill.enqueue('something.else', null)
    await mill.drain()
    expect(mill.eventCounts.emitted['kind-unknown']).toBe(1)
    expect(mill.events.find(({ type }) => type === 'kind-unknown')).toMatchObject({
      kind: 'qiuck',
      near: 'quick',
    })
  })

  test('D low a process that generates kinds keeps 1,000 of them in memory, and none is reported as a typo', async () => {
    const mill = await create({ jobs: [quick], start: false })
    const kinds = Array.from({ length: 1_000 }, (_, n) => `generated.${n}`)
    await Promise.all(kinds.map((kind) => mill.enqueue(kind, null)))
    await mill.enqueue('qiuck', null)
    await mill.platform.settled()
    expect(mill.eventCounts.emitted['kind-unknown']).toBeUndefined()
  })

  test('an enqueue to a misspelled queue emits one warning with the nearest queue', async () => {
    const mill = await create({
      jobs: [quick],
      queues: { mail: { workers: 1 } },
      route: { 'sms.': 'texts' },
    })
    for (const queue of ['mail', 'texts', 'default', 'mial']) await mill.enqueue(quick, null, { queue })
    await mill.enqueueMany(quick, [
      { payload: null, queue: 'mial' },
      { payload: null, queue: 'reports' },
      { payload: null },
    ])
    await mill.drain()
    expect(mill.events.filter(({ type }) => type === 'queue-unknown')).toMatchObject([
      { queue: 'mial', near: 'mail' },
    ])
  })

  test('a queue can be created and served at run time', async () => {
    const mill = await create({ jobs: [quick] })
    const { id } = await mill.enqueue(quick, null, { queue: 'late' })
    await mill.clock.advance('5s')
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })
    await mill.serve('late', { workers: 3 })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    expect((await mill.instances())[0]?.queues).toEqual(['default', 'late'])
    expect(await rejection(() => mill.serve('late', { wokers: 3 } as object))).toMatchObject({
      code: 'OPTIONS_INVALID',
    })
  })

  test('a start does not overwrite the changes of an operator', async () => {
    const mill = await create({ jobs: [quick], queues: { default: { workers: 3 } } })
    await mill.changeQueue('default', { workers: 7 })
    const again = jobmill({
      store: lent(mill),
      jobs: [quick],
      queues: { default: { workers: 3 } },
      log: 'silent',
      platform: mill.platform,
    })
    await again.start()
    expect((await again.queues())[0]).toMatchObject({ name: 'default', workers: 7 })
    await again.stop()
  })

  test('P15 an idle mill queries the database at most once a second, or twice on SQLite, and not at all after its stop', async () => {
    const stores: Faults[] = []
    const count = (store: FullStore): FullStore => {
      const faulty = faultyStore(store)
      stores.push(faulty)
      return faulty
    }
    const counted = (): number => {
      const { 'notifier.wait': _wait, ...calls } = stores[0]?.calls() ?? { 'notifier.wait': 0 }
      return Object.values(calls).reduce((sum, n) => sum + n, 0)
    }
    const mill = await create({ jobs: [quick], queues: { default: { workers: 500 } } }, count)
    await mill.clock.advance('5s')
    const before = counted()
    await mill.clock.advance('60s')
    expect(counted() - before).toBeGreaterThan(20)
    expect(counted() - before).toBeLessThanOrEqual(name === 'postgres' ? 60 : 120)
    await mill.stop()
    const after = counted()
    await mill.platform.advance('60s')
    expect(counted()).toBe(after)
  })
})

describe('a store that is closed while a mill uses it, on sqlite', () => {
  test('is reported, the signals of the jobs fire, and the mill can still be stopped', async () => {
    const { job, entered, open } = gated()
    const store = sqlite(':memory:')
    const events: string[] = []
    const mill = jobmill({ store, jobs: [job], log: 'silent', lease: '400ms', renewEvery: '100ms' })
    mill.on('*', ({ type }) => events.push(type))
    await mill.start()
    await mill.enqueue(job, { deaf: true })
    const signal = await entered
    const lost = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    await store.close()
    await lost
    expect(signal.reason).toMatchObject({ why: 'lease-lost' })
    await expect.poll(() => events).toContain('store-failing')
    expect(await rejection(() => mill.enqueue(job, { deaf: true }))).toMatchObject({ code: 'STORE_CLOSED' })
    open('whatever')
    await mill.stop({ grace: 0 })
  })
})
