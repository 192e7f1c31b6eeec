/** Live settings and worker shares under races, and what the heartbeat reads. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, jobmill, type FullStore } from '../../src/index.ts'
import { type Faults, faultyStore } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { happened, lent, subjects } from './stores.ts'

const quick = defineJob({ kind: 'quick', run: () => 'done' })

/** Gives access to the faults of the store that a mill created with `around` uses. */
function faults(): { around: (store: FullStore) => FullStore; plan: Faults } {
  const made: (FullStore & Faults)[] = []
  const around = (store: FullStore): FullStore => {
    const faulty = faultyStore(store)
    made.push(faulty)
    return faulty
  }
  const plan = new Proxy({} as Faults, { get: (_, key) => Reflect.get(made[0] ?? {}, key) as unknown })
  return { around, plan }
}

describe.each(subjects)('live settings on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('P7 P16 a setting is not lost if an older read of it returns last', async () => {
    const { around, plan } = faults()
    const mill = await create({ jobs: [quick] }, around)
    await mill.platform.settled()
    const late = plan.holdReply('queues.list')
    await mill.pause('default')
    await mill.platform.advance('1s')
    await late.reached
    await mill.resume('default')
    await mill.platform.advance('1s')
    late.release()
    const { id } = await mill.enqueue(quick, null)
    await mill.platform.advance('2s')
    expect(happened(mill, id)).toContain('finished')
  })

  test('P15 a queue with jobs and without workers causes no claims', async () => {
    const { around, plan } = faults()
    const mill = await create({ jobs: [quick], serve: ['a', 'b'], queues: { a: { workers: 0 } } }, around)
    await mill.enqueue(quick, null, { queue: 'a' })
    await mill.platform.advance('5s')
    const before = plan.calls('claim')
    await mill.platform.advance('30s')
    expect(plan.calls('claim') - before).toBe(0)
  })

  test('a new instance gets its share of a total, and never all of it', async () => {
    const running: string[] = []
    const gate = Promise.withResolvers<void>()
    const hold = (name: string) =>
      defineJob({ kind: 'hold', run: async () => (running.push(name), gate.promise) })
    const mill = await create({ jobs: [hold('old')], queues: { default: { workers: 4 } } })
    await mill.enqueueMany(
      'hold',
      Array.from({ length: 12 }, () => ({ payload: null })),
    )
    await mill.platform.settled()
    const { platform } = mill
    const newcomer = jobmill({ store: lent(mill), platform, jobs: [hold('new')], log: 'silent' })
    await newcomer.start()
    await platform.settled()
    expect(running.filter((name) => name === 'old')).toHaveLength(4)
    expect(running.filter((name) => name === 'new')).toHaveLength(2)
    gate.resolve()
    await newcomer.stop()
  })

  test('a lease shorter than the default heartbeat is renewed in time', async () => {
    const mill = await create({ jobs: [quick], lease: 400, renewEvery: 100 })
    await mill.platform.advance('10s')
    expect(mill.eventCounts.emitted['instance-lost']).toBeUndefined()
  })

  test('the timeout ends a schema validation that never resolves', async () => {
    const job = defineJob({
      kind: 'slow',
      payload: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => answers(value) } },
      maxAttempts: 1,
      timeout: '3s',
      run: () => null,
    })
    let asked = 0
    // The validation resolves at enqueue and hangs before the run.
    function answers(value: unknown): Promise<{ value: unknown }> {
      asked += 1
      return asked === 1 ? Promise.resolve({ value }) : new Promise(() => {})
    }
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.platform.settled()
    await mill.platform.advance('4s')
    expect(happened(mill, id)).toContain('timed-out')
    expect(await mill.get(id)).toMatchObject({ state: 'dead' })
  })

  test('a cached result is dropped if its job is deleted or enqueued again', async () => {
    const job = defineJob({ kind: 'a', run: ({ payload }: JobContext<number>) => payload })
    const mill = await create({ jobs: [job] })
    const { platform } = mill
    const own = jobmill({ store: lent(mill), platform, jobs: [job], log: 'silent' })
    await own.start()
    const id = platform.id()
    const first = await own.enqueue(job, 1, { id })
    await platform.advance('2s')
    // Delete the job through the other mill, so that this one does not notice.
    expect(await mill.delete(id)).toMatchObject({ verdict: 'changed' })
    const again = await own.enqueue(job, 2, { id, delay: '1h' })
    const late = rejection(() => again.result({ timeout: '5s' }))
    await platform.advance('6s')
    expect(await late).toMatchObject({ code: 'RESULT_TIMEOUT' })
    expect(first.id).toBe(again.id)
    const gone = await own.enqueue(job, 3)
    await platform.advance('2s')
    await own.delete(gone.id)
    const unknown = rejection(() => own.job(gone.id).result())
    await platform.advance('1s')
    expect(await unknown).toMatchObject({ code: 'JOB_UNKNOWN' })
    await own.stop()
  })
})
