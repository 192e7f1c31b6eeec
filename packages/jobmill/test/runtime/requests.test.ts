/** What an operator requests of one process: quiet, resume and stop. Runs on both stores. */
import { describe, expect, onTestFinished } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, stopOnSignals } from '../../src/index.ts'
import { anInstance } from '../../../conformance/src/factories.ts'
import { type TestMill, testMill, type TestMillOptions } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { happened, lent, subjects } from './stores.ts'

const quick = defineJob({ kind: 'quick', run: () => 'done' })

function gated() {
  const gate = Promise.withResolvers<string>()
  return { job: defineJob({ kind: 'gated', run: () => gate.promise }), open: gate.resolve }
}

const eventsOf = (mill: TestMill, type: string) => mill.events.filter((event) => event.type === type)

/** Another process on the same database and clock. */
async function peer(mill: TestMill, options: Omit<TestMillOptions, 'store'>): Promise<TestMill> {
  const other = await testMill({ ...options, platform: mill.platform, store: () => lent(mill) })
  onTestFinished(async () => void (await other.stop({ grace: 0 })))
  return other
}

async function isQuiet(mill: TestMill): Promise<void> {
  await mill.quietInstance(mill.instance.id, { by: 'ada' })
  await mill.clock.advance('1s')
  expect(eventsOf(mill, 'mill-quiet')).toHaveLength(1)
}

describe.each(subjects)('requests of operators on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('P7 a quiet process claims nothing, its running job ends, and a resumed one claims again', async () => {
    const { job, open } = gated()
    const mill = await create({ jobs: [job, quick] })
    const running = await mill.enqueue(job, null)
    await mill.clock.advance('1s')
    await isQuiet(mill)
    expect(eventsOf(mill, 'mill-quiet')).toMatchObject([
      { instance: mill.instance.id, by: 'ada', running: 1 },
    ])
    expect(await mill.instances()).toMatchObject([
      { state: 'alive', requested: 'quiet', requestedBy: 'ada', requestedAt: expect.any(Number) as number },
    ])
    // Neither by direct dispatch nor by a claim.
    const direct = await mill.enqueue(quick, null)
    const claimed = await mill.enqueue(quick, null, { dedupeKey: 'claimed' })
    await mill.clock.advance('20s')
    for (const { id } of [direct, claimed])
      expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
    expect(await mill.get(running.id)).toMatchObject({ state: 'running' })
    open('opened')
    await mill.drain()
    expect(await mill.get(running.id)).toMatchObject({ state: 'done' })
    expect((await mill.counts())[0]).toMatchObject({ ready: 2, running: 0 })
    await mill.resumeInstance(mill.instance.id)
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ ready: 0, done: 3 })
    expect(eventsOf(mill, 'mill-resumed')).toHaveLength(1)
    expect(await mill.instances()).toMatchObject([{ requested: null, requestedBy: null, requestedAt: null }])
  })

  test('P7 the others take the share of a quiet process, and give it back', async () => {
    const mill = await create({ jobs: [quick], queues: { default: { workers: 4 } } })
    const other = await peer(mill, { jobs: [quick] })
    await mill.clock.advance('30s')
    const shares = async () =>
      new Map((await mill.slots()).map(({ instance, workers }) => [instance, workers]))
    expect([...(await shares()).values()]).toEqual([2, 2])
    await mill.quietInstance(mill.instance.id)
    await mill.clock.advance('30s')
    expect(await shares()).toEqual(new Map([[other.instance.id, 4]]))
    const jobs = await mill.enqueueMany(
      quick,
      Array.from({ length: 20 }, () => ({ payload: null })),
    )
    await mill.clock.advance('5s')
    expect((await mill.counts())[0]).toMatchObject({ done: 20 })
    for (const { id } of jobs) expect(happened(mill, id)).not.toContain('started')
    await mill.resumeInstance(mill.instance.id)
    await mill.clock.advance('30s')
    expect([...(await shares()).values()]).toEqual([2, 2])
  })

  test('a handler in a quiet process can enqueue, and await a result from another process', async () => {
    const asked = Promise.withResolvers<void>()
    const parent = defineJob({
      kind: 'parent',
      queue: 'parents',
      async run({ enqueue }: JobContext) {
        await asked.promise
        return (await enqueue(quick, null)).id
      },
    })
    const mill = await create({ jobs: [parent, quick] })
    const other = await peer(mill, { jobs: [quick] })
    const { id } = await mill.enqueue(parent, null)
    await mill.clock.advance('1s')
    await isQuiet(mill)
    asked.resolve()
    const child = await mill.job(parent, id).result()
    expect(await mill.job(quick, child).result()).toBe('done')
    expect(happened(other, child)).toContain('finished')
  })

  test('P9 a quiet process keeps its duties', async () => {
    const mill = await create({ jobs: [quick] })
    await isQuiet(mill)
    await mill.clock.advance('1m')
    const leaders = (await mill.duties()).flatMap(({ leader }) => leader ?? [])
    expect(new Set(leaders)).toEqual(new Set([mill.instance.id]))
    expect(leaders.length).toBeGreaterThanOrEqual(4)
  })

  test('P6 stop without stopOnSignals stops the mill, says that the process keeps running, and loses nothing', async () => {
    const { job } = gated()
    const operator = await create({ start: false })
    const mill = await peer(operator, { jobs: [job, quick], grace: '5s' })
    const running = await operator.enqueue(job, null)
    await operator.platform.advance('1s')
    expect(await operator.get(running.id)).toMatchObject({ state: 'running' })
    await operator.stopInstance(mill.instance.id, { by: 'ada' })
    await operator.platform.advance('10s')
    expect(eventsOf(mill, 'stop-requested')).toMatchObject([{ by: 'ada', endsProcess: false }])
    expect(eventsOf(mill, 'mill-stopped')).toMatchObject([{ interrupted: 1 }])
    expect(await operator.get(running.id)).toMatchObject({ state: 'ready', attempt: 0, crashes: 0 })
    expect(await operator.instances()).toMatchObject([{ state: 'stopped', requested: 'stop' }])
    // A new process is neither quiet nor stopping.
    const next = await peer(operator, { jobs: [quick] })
    expect(await next.run(quick, null)).toBe('done')
  })

  test('stop with stopOnSignals raises SIGTERM', async () => {
    const raised: string[] = []
    const target = {
      on() {},
      off() {},
      pid: 7,
      kill: (pid: number, signal: string) => raised.push(`${pid} ${signal}`),
    }
    const mill = await create({ jobs: [quick] })
    onTestFinished(stopOnSignals(mill, { process: target as never }))
    await mill.stopInstance(mill.instance.id)
    await mill.clock.advance('5s')
    expect(raised).toEqual(['7 SIGTERM'])
    expect(eventsOf(mill, 'stop-requested')).toMatchObject([{ endsProcess: true }])
  })

  test('N a request of an unknown or ended process is refused with a fix', async () => {
    const mill = await create({ jobs: [quick] })
    const unknown = anInstance().id
    expect(await rejection(() => mill.quietInstance(unknown))).toMatchObject({
      code: 'INSTANCE_UNKNOWN',
      field: 'id',
      message: `id: no process has this id (got "${unknown}"). Use the id of a running process from mill.instances().`,
    })
    const ended = anInstance()
    await mill.store.instances.register(ended)
    await mill.store.instances.deregister(ended.id)
    for (const verb of ['quietInstance', 'resumeInstance', 'stopInstance'] as const)
      expect(await rejection(() => mill[verb](ended.id))).toMatchObject({
        code: 'INSTANCE_ENDED',
        fix: 'Use the id of a running process',
      })
    expect(await rejection(() => mill.stopInstance('web-1'))).toMatchObject({
      code: 'ID_INVALID',
      field: 'id',
    })
  })
})
